// A fake of Azure Service Bus, for tests: queues in memory behind AMQP 1.0, claims over $cbs, peek-lock.
// It is no Service Bus; Microsoft's own client (service_bus_judge.mjs) accepts it before anything of ours is tried on it.
//
// Usage: node fake_service_bus.mjs PORT KEY_NAME KEY QUEUE[,QUEUE…] [CERT_FILE KEY_FILE]
// Reads lines from stdin and answers each with a line of JSON:
//   state          what is in the queues, and how many tokens were taken, refused and ran out
//   expire         every token is over now, as if its time had come
//   quota N        a queue holds at most N messages; more are rejected
//   lock SECONDS   how long a delivered message is locked
// Keeps to what the real one does: a link needs a claim that covers its entity and ends with it
// (amqp:unauthorized-access), an unknown entity is amqp:not-found, the delivery tag is the lock token, an abandoned
// message comes again with a higher delivery count, after ten times it goes to QUEUE/$deadletterqueue.
import {createHmac, randomUUID, timingSafeEqual} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import rhea from 'rhea';

const [port, keyName, key, queueNames, certFile, keyFile] = process.argv.slice(2);
const MESSAGE_BYTES_MAX = 262144, DELIVERIES_MAX = 10, BATCH_FORMAT = 0x80013700, DEAD = '/$deadletterqueue';
const queues = new Map(), claims = new Map(); // claims: connection → [{path, until}]
const tokens = {accepted: 0, refused: 0, expired: 0};
let quota = Infinity, lockMs = 30000, sequence = 0;
for (const name of queueNames.split(','))
  for (const path of [name, name + DEAD]) queues.set(path, {ready: [], locked: new Map(), senders: new Set()});

const rejected = (condition, description) =>
  rhea.message.rejected({error: {condition, description}}).described();

// Claims ------------------------------------------------------------------------------------------------------

// The path that a good token covers, or the reason why it is no good.
function judgeToken(token, audience) {
  const match = /^SharedAccessSignature (.*)$/.exec(String(token));
  if (!match) return {why: 'not a shared access signature'};
  const parts = Object.fromEntries(match[1].split('&').map(part => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
  if (!parts.sr || !parts.sig || !parts.se || parts.skn === undefined) return {why: 'sr, sig, se or skn is missing'};
  const wanted = createHmac('sha256', key).update(`${parts.sr}\n${parts.se}`).digest();
  const given = Buffer.from(decodeURIComponent(parts.sig), 'base64');
  if (decodeURIComponent(parts.skn) !== keyName || given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return {why: 'InvalidSignature: The token has an invalid signature.'};
  if (Number(parts.se) * 1000 <= Date.now()) return {why: 'ExpiredToken: The token is expired.'};
  const pathOf = uri => uri.replace(/^[a-z]+:\/\/[^/]*\/?/, '').replace(/\/$/, '');
  const covered = pathOf(decodeURIComponent(parts.sr));
  if (!pathOf(audience).startsWith(covered)) return {why: 'the token is for something else'};
  return {path: covered, until: Number(parts.se) * 1000};
}

function putToken({connection, message}, answers) {
  const properties = message.application_properties ?? {};
  const known = properties.operation === 'put-token' && properties.type === 'servicebus.windows.net:sastoken';
  const claim = known ? judgeToken(message.body, properties.name ?? '') : {why: 'not a put-token of a shared access signature'};
  if (claim.why) tokens.refused++;
  else {
    tokens.accepted++;
    claims.set(connection, [...(claims.get(connection) ?? []).filter(old => old.path !== claim.path), claim]);
  }
  answers.send({correlation_id: message.message_id,
    application_properties: {'status-code': rhea.types.wrap_int(claim.why ? 401 : 202), 'status-description': claim.why ?? 'Accepted'}});
}

const covered = (connection, path) => (claims.get(connection) ?? []).some(claim => path.startsWith(claim.path) && claim.until > Date.now());

// Ends the links whose claim has run out, as the real one does.
function endUncovered() {
  for (const connection of claims.keys())
    connection.each_link(link => {
      const path = link.entity;
      if (path && link.is_open() && !covered(connection, path)) {
        tokens.expired++;
        link.close({condition: 'amqp:unauthorized-access', description: 'ExpiredToken: The token is expired.'});
      }
    });
}
setInterval(endUncovered, 200);

// Links -------------------------------------------------------------------------------------------------------

const entityOf = address => String(address ?? '').replace(/^[a-z]+:\/\/[^/]*\//, '').replace(/^\//, '').toLowerCase();

// Whether the link may stay; when not, it is ended with the reason.
function admit(link, address) {
  const path = entityOf(address);
  link.entity = path;
  if (!covered(link.connection, path)) {
    link.close({condition: 'amqp:unauthorized-access', description: `Unauthorized access. 'Send' or 'Listen' claim required: ${path}`});
    return null;
  }
  if (!queues.has(path)) {
    link.close({condition: 'amqp:not-found', description: `The messaging entity '${path}' could not be found.`});
    return null;
  }
  return queues.get(path);
}

rhea.on('receiver_open', ({receiver}) => {
  const address = receiver.remote.attach.target?.address;
  receiver.set_target({address});
  receiver.set_source({address: receiver.remote.attach.source?.address});
  if (address === '$cbs') return;
  receiver.local.attach.max_message_size = MESSAGE_BYTES_MAX;
  receiver.queue = admit(receiver, address);
});

rhea.on('sender_open', ({sender, connection}) => {
  const address = sender.remote.attach.source?.address;
  sender.set_source({address});
  sender.set_target({address: sender.remote.attach.target?.address});
  if (address === '$cbs') {
    (connection.answers ??= new Map()).set(sender.remote.attach.target?.address, sender);
    return;
  }
  sender.queue = admit(sender, address);
  sender.queue?.senders.add(sender);
});

// What a receiver had stays locked until its time is over, also when the receiver is gone.
rhea.on('sender_close', ({sender}) => sender.queue?.senders.delete(sender));
for (const end of ['connection_close', 'disconnected'])
  rhea.on(end, ({connection}) => {
    for (const queue of queues.values()) for (const sender of queue.senders) if (sender.connection === connection) queue.senders.delete(sender);
    claims.delete(connection);
  });
rhea.on('connection_open', ({connection}) => claims.set(connection, []));
for (const quietly of ['connection_error', 'session_error', 'sender_error', 'receiver_error', 'protocol_error', 'error'])
  rhea.on(quietly, () => {});

// Messages ----------------------------------------------------------------------------------------------------

rhea.on('message', context => {
  const {receiver, message, delivery, connection} = context;
  if (receiver.remote.attach.target?.address === '$cbs') {
    delivery.update(true, rhea.message.accepted().described());
    const answers = connection.answers?.get(message.reply_to) ?? [...(connection.answers?.values() ?? [])].at(-1);
    if (answers) putToken(context, answers);
    return;
  }
  const queue = receiver.queue;
  if (!queue) return;
  const bytes = Buffer.isBuffer(message) ? message.length : rhea.message.encode(message).length;
  if (bytes > MESSAGE_BYTES_MAX) {
    delivery.update(true, rejected('amqp:link:message-size-exceeded',
      `The received message (size:${bytes} bytes) exceeds the limit (${MESSAGE_BYTES_MAX} bytes) currently allowed on the link.`));
    return;
  }
  const messages = delivery.format === BATCH_FORMAT
    ? [rhea.message.decode(message).body].flatMap(body => body.multiple ? body.content : [body.content]).map(part => rhea.message.decode(part))
    : [message];
  if (queue.ready.length + queue.locked.size + messages.length > quota) {
    delivery.update(true, rejected('amqp:resource-limit-exceeded', 'The queue has reached its maximum size.'));
    return;
  }
  for (const one of messages) queue.ready.push({number: ++sequence, message: one, deliveries: 0, enqueued: Date.now()});
  delivery.update(true, rhea.message.accepted().described());
  deliver(queue);
});

// Back where they were, so that the order of the queue stays.
function giveBack(queue, entries) {
  queue.ready = [...entries, ...queue.ready].sort((a, b) => a.number - b.number);
  deliver(queue);
}

function deadLetter(queue, entry, reason) {
  const path = [...queues].find(([, each]) => each === queue)[0];
  entry.deliveries = 0;
  entry.message.application_properties = {...entry.message.application_properties, DeadLetterReason: reason};
  const dead = queues.get(path.endsWith(DEAD) ? path : path + DEAD);
  dead.ready.push(entry);
  deliver(dead);
}

function deliver(queue) {
  for (const sender of queue.senders)
    while (sender.is_open() && sender.sendable() && queue.ready.length > 0) {
      const entry = queue.ready.shift(), tag = Buffer.from(randomUUID().replaceAll('-', ''), 'hex');
      const settled = sender.remote.attach.snd_settle_mode === 1; // receive and delete
      const delivery = sender.send({...entry.message, delivery_count: entry.deliveries, message_annotations: {
        ...entry.message.message_annotations, 'x-opt-sequence-number': rhea.types.wrap_long(entry.number),
        'x-opt-enqueued-time': rhea.types.wrap_timestamp(entry.enqueued),
        'x-opt-locked-until': rhea.types.wrap_timestamp(Date.now() + lockMs)}}, tag);
      if (settled) delivery.update(true);
      else queue.locked.set(tag.toString('hex'), {entry, sender, delivery, until: Date.now() + lockMs});
    }
}
rhea.on('sendable', ({sender}) => sender.queue && deliver(sender.queue));
// A receiver that drains wants to hear that there is nothing more.
rhea.on('sender_draining', ({sender}) => {
  if (sender.queue) deliver(sender.queue);
  sender.set_drained(true);
});

// The entry whose lock the delivery is; null when the lock was lost, which the receiver is told.
function unlock({sender, delivery}) {
  const tag = Buffer.from(delivery.tag).toString('hex'), lock = sender.queue?.locked.get(tag);
  if (!lock) {
    delivery.update(true, rejected('com.microsoft:message-lock-lost', 'The lock supplied is invalid.'));
    return null;
  }
  sender.queue.locked.delete(tag);
  return lock.entry;
}

function again(queue, entry) {
  entry.deliveries++;
  if (entry.deliveries >= DELIVERIES_MAX) deadLetter(queue, entry, 'MaxDeliveryCountExceeded');
  else giveBack(queue, [entry]);
}

rhea.on('accepted', context => {
  if (context.sender?.queue && unlock(context)) context.delivery.update(true, rhea.message.accepted().described());
});
rhea.on('rejected', context => {
  const entry = context.sender?.queue && unlock(context);
  if (!entry) return;
  const info = context.delivery.remote_state.error?.info ?? {};
  deadLetter(context.sender.queue, entry, info.DeadLetterReason ?? 'rejected');
  context.delivery.update(true, rhea.message.rejected().described());
});
for (const outcome of ['released', 'modified'])
  rhea.on(outcome, context => {
    const entry = context.sender?.queue && unlock(context);
    if (!entry) return;
    context.delivery.update(true, rhea.message.released().described());
    again(context.sender.queue, entry);
  });

setInterval(() => {
  for (const queue of queues.values())
    for (const [tag, lock] of queue.locked)
      if (lock.until <= Date.now()) {
        queue.locked.delete(tag);
        again(queue, lock.entry);
      }
}, 100);

// Start, and what the test may ask ------------------------------------------------------------------------------

const tls = certFile ? {transport: 'tls', cert: readFileSync(certFile), key: readFileSync(keyFile)} : {};
rhea.sasl_server_mechanisms.enable_anonymous();
rhea.listen({host: '127.0.0.1', port: Number(port), ...tls, receiver_options: {autoaccept: false, credit_window: 500},
  sender_options: {autosettle: false, treat_modified_as_released: false}}).on('listening', () => console.log('ready'));

const commands = {
  state: () => ({tokens, queues: Object.fromEntries([...queues].map(([path, queue]) => [path, {ready: queue.ready.length, locked: queue.locked.size}]))}),
  expire: () => {
    for (const list of claims.values()) for (const claim of list) claim.until = 0;
    endUncovered();
    return {};
  },
  quota: word => (quota = Number(word), {}),
  lock: word => (lockMs = Number(word) * 1000, {}),
};
createInterface({input: process.stdin}).on('line', line => {
  const [name, word] = line.split(' ');
  console.log(JSON.stringify(commands[name] ? commands[name](word) : {error: `no command ${name}`}));
}).on('close', () => process.exit(0));
