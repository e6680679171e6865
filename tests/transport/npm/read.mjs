// Readers that are not ours: one message of a broker, by a client from npm, as one line of JSON.
//
// Usage: node read.mjs amqp|amqp1|nats|kafka HOST:PORT SOURCE
// SOURCE is the queue (amqp), the address (amqp1), the stream (nats) or the topic (kafka).
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const [kind, address, source] = process.argv.slice(2);
const [host, port] = address.split(':');
const texts = headers => Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));

const readers = {
  async amqp() {
    const connection = await require('amqplib').connect(`amqp://guest:guest@${address}`);
    const channel = await connection.createChannel();
    const message = await channel.get(source, {noAck: true});
    await connection.close();
    return {id: message.properties.messageId, type: message.properties.contentType, headers: {}, body: JSON.parse(message.content)};
  },
  amqp1() {
    const rhea = require('rhea');
    return new Promise((resolve, reject) => {
      const connection = rhea.connect({host, port: Number(port), username: 'guest', password: 'guest', reconnect: false});
      connection.open_receiver({source, credit_window: 0, autoaccept: true}).add_credit(1);
      rhea.once('message', ({message}) => {
        setTimeout(() => connection.close(), 100); // after the disposition
        resolve({id: message.message_id, type: message.content_type, headers: texts(message.application_properties),
          body: JSON.parse(message.body.content ?? message.body)});
      });
      rhea.once('disconnected', ({error}) => reject(error ?? new Error('disconnected')));
    });
  },
  async nats() {
    const nats = require('nats');
    const connection = await nats.connect({servers: address});
    const message = await (await connection.jetstreamManager()).streams.getMessage(source, {seq: 1});
    await connection.close();
    return {id: message.header.get('Nats-Msg-Id'), type: message.header.get('content-type'),
      headers: Object.fromEntries(message.header.keys().map(name => [name, message.header.get(name)])),
      body: JSON.parse(Buffer.from(message.data).toString())};
  },
  async kafka() {
    const {Kafka, logLevel} = require('kafkajs');
    const consumer = new Kafka({brokers: [address], logLevel: logLevel.NOTHING}).consumer({groupId: 'reader'});
    await consumer.connect();
    await consumer.subscribe({topic: source, fromBeginning: true});
    return new Promise(resolve => consumer.run({eachMessage: async ({message}) =>
      resolve({id: String(message.headers.ce_id), type: String(message.headers['content-type']), key: String(message.key), headers: texts(message.headers),
        body: JSON.parse(message.value)})}));
  },
};

const deadline = setTimeout(() => (console.error('no message came'), process.exit(1)), 30000);
console.log(JSON.stringify(await readers[kind]()));
clearTimeout(deadline);
setTimeout(() => process.exit(0), 200);
