// Microsoft's own client of Azure Service Bus at work on the fake one. Prints a line of TAP per case.
//
// Usage: node service_bus_judge.mjs judge PORT KEY_NAME KEY QUEUE   the cases; QUEUE is empty before and after
//        node service_bus_judge.mjs read PORT KEY_NAME KEY QUEUE N  receives N messages: a line of JSON each
//        node service_bus_judge.mjs send PORT KEY_NAME KEY QUEUE    sends the messages that stdin has, a JSON line each
import {createInterface} from 'node:readline';
import {ServiceBusClient} from '@azure/service-bus';

const [mode, port, keyName, key, queue, count] = process.argv.slice(2);
const open = secret => new ServiceBusClient(
  `Endpoint=sb://localhost:${port};SharedAccessKeyName=${keyName};SharedAccessKey=${secret};UseDevelopmentEmulator=true;`,
  {retryOptions: {maxRetries: 0, timeoutInMs: 5000}});
const client = open(key);
let cases = 0, failed = 0;

async function check(name, body) {
  let problem = null;
  try {
    const answer = await body();
    problem = answer === true ? null : `answered ${answer}`;
  } catch (error) {
    problem = `${error.code ?? ''} ${error.message}`;
  }
  failed += problem !== null;
  if (problem !== null) console.log(`# ${problem}`);
  console.log(`${problem === null ? 'ok' : 'not ok'} ${++cases} - Microsoft's client: ${name}`);
}

// True when the body is refused with one of these codes, else what happened.
async function refused(body, ...codes) {
  try {
    await body();
  } catch (error) {
    return codes.includes(error.code) || `${error.code}: ${error.message}`;
  }
  return 'that it is well';
}

async function take(receiver, wanted) {
  const found = [], until = Date.now() + 10000;
  while (found.length < wanted && Date.now() < until)
    found.push(...await receiver.receiveMessages(wanted - found.length, {maxWaitTimeInMs: 1000}));
  return found;
}

async function judge() {
  const sender = client.createSender(queue), receiver = client.createReceiver(queue);
  await check('sends one message', async () => (await sender.sendMessages({messageId: 'm-1', body: {n: 1}, applicationProperties: {colour: 'blue'}}), true));
  await check('sends a batch', async () => {
    const batch = await sender.createMessageBatch();
    const added = [2, 3].every(n => batch.tryAddMessage({messageId: `m-${n}`, body: {n}}));
    await sender.sendMessages(batch);
    return added;
  });
  let messages = [];
  await check('receives them under a lock, with id, properties and sequence number', async () => {
    messages = await take(receiver, 3);
    return messages.map(m => m.messageId).join() === 'm-1,m-2,m-3' && messages[0].applicationProperties.colour === 'blue' &&
      messages.every((m, i) => m.body.n === i + 1 && m.lockToken && m.sequenceNumber && m.deliveryCount === 0);
  });
  await check('completes one', async () => (await receiver.completeMessage(messages[0]), true));
  await check('gives one back and gets it again, counted', async () => {
    await receiver.abandonMessage(messages[1]);
    const [again] = await take(receiver, 1);
    const good = again.messageId === 'm-2' && again.deliveryCount === 1;
    await receiver.completeMessage(again);
    return good;
  });
  await check('makes one a dead letter and finds it there', async () => {
    await receiver.deadLetterMessage(messages[2], {deadLetterReason: 'judged'});
    const dead = client.createReceiver(queue, {subQueueType: 'deadLetter'});
    const [letter] = await take(dead, 1);
    const good = letter.messageId === 'm-3' && letter.deadLetterReason === 'judged';
    await dead.completeMessage(letter);
    return good;
  });
  await check('a second settlement of the same message is refused', () =>
    refused(() => receiver.completeMessage(messages[0]), undefined, 'MessageLockLost'));
  const stranger = open('another-key');
  await check('a wrong key is refused', () =>
    refused(() => stranger.createSender(queue).sendMessages({body: 1}), 'UnauthorizedAccess'));
  await stranger.close();
  await check('an unknown queue is not found', () =>
    refused(() => client.createSender('nobody').sendMessages({body: 1}), 'MessagingEntityNotFound'));
  await check('a message above the limit is refused', () =>
    refused(() => sender.sendMessages({body: 'x'.repeat(400000)}), 'MessageSizeExceeded'));
  console.log(`1..${cases}`);
}

async function read() {
  const receiver = client.createReceiver(queue);
  for (const message of await take(receiver, Number(count))) {
    console.log(JSON.stringify({id: message.messageId, contentType: message.contentType, correlationId: message.correlationId,
      properties: message.applicationProperties, body: Buffer.isBuffer(message.body) ? JSON.parse(message.body) : message.body}));
    await receiver.completeMessage(message);
  }
}

async function send() {
  const sender = client.createSender(queue);
  for await (const line of createInterface({input: process.stdin})) await sender.sendMessages(JSON.parse(line));
}

await {judge, read, send}[mode]();
await client.close();
process.exit(failed > 0 ? 1 : 0);
