// kafkajs against BOOTSTRAP. Its own codec is gzip; the others are plugged in: snappy in the xerial framing that Java's
// client writes, LZ4 frames, Zstandard.
'use strict';

const assert = require('node:assert');
const { once } = require('node:events');
const { Kafka, CompressionTypes, CompressionCodecs, logLevel } = require('kafkajs');
const lz4 = require('lz4-napi');
const snappy = require('snappyjs');
const { ZstdCodec } = require('zstd-codec');

const run = Date.now().toString(16) + process.pid.toString(16);
const topic = `kafkajs-${run}`;
const group = `kafkajs-group-${run}`;
const partitions = 3;
const kafka = new Kafka({ clientId: 'compat', brokers: [process.env.BOOTSTRAP], logLevel: logLevel.NOTHING });
const admin = kafka.admin();

let passed = 0;
let failed = 0;
async function check(name, body) {
  try {
    await body();
    passed++;
    console.log('ok', name);
  } catch (e) {
    failed++;
    console.log('FAIL', name);
    console.log(e);
  }
}

async function until(done, what) {
  const end = Date.now() + 60000;
  while (!(await done())) {
    assert(Date.now() < end, `never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const xerialHeader = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0, 0, 0, 0, 1, 0, 0, 0, 1]);
function snappyCompress({ buffer }) {
  const block = Buffer.from(snappy.compress(buffer));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(block.length);
  return Buffer.concat([xerialHeader, length, block]);
}
function snappyDecompress(buffer) {
  if (!buffer.subarray(0, 8).equals(xerialHeader.subarray(0, 8))) return Buffer.from(snappy.uncompress(buffer));
  const blocks = [];
  for (let at = 16; at < buffer.length; ) {
    const n = buffer.readUInt32BE(at);
    blocks.push(Buffer.from(snappy.uncompress(buffer.subarray(at + 4, at + 4 + n))));
    at += 4 + n;
  }
  return Buffer.concat(blocks);
}

async function plugIn() {
  const zstd = await new Promise((resolve) => ZstdCodec.run((z) => resolve(new z.Simple())));
  CompressionCodecs[CompressionTypes.Snappy] = () => ({
    compress: async (encoder) => snappyCompress(encoder),
    decompress: async (buffer) => snappyDecompress(buffer),
  });
  CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: ({ buffer }) => lz4.compressFrame(buffer),
    decompress: (buffer) => lz4.decompressFrame(buffer),
  });
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }) => Buffer.from(zstd.compress(buffer)),
    decompress: async (buffer) => Buffer.from(zstd.decompress(buffer)),
  });
}

// What was produced, by partition, in order.
const written = Array.from({ length: partitions }, () => []);
const total = () => written.reduce((n, w) => n + w.length, 0);

async function produce(label, { compression = CompressionTypes.None, acks = -1, idempotent = false } = {}) {
  const producer = kafka.producer({ idempotent, maxInFlightRequests: 1 });
  await producer.connect();
  try {
    for (let round = 0; round < 3; round++) {
      const messages = [];
      for (let i = 0; i < 60; i++) {
        const value = `${label}-${round}-${i}-${'x'.repeat(i)}`;
        messages.push({ partition: i % partitions, key: 'k', value, headers: { h: '1' } });
        written[i % partitions].push(value);
      }
      await producer.send({ topic, messages, compression, acks });
    }
  } finally {
    await producer.disconnect();
  }
}

// A member of a group: what it got, and its partitions after its last join.
class Member {
  constructor(groupId, fromBeginning = true) {
    this.got = Array.from({ length: partitions }, () => []);
    this.assigned = [];
    this.offsets = [];
    this.consumer = kafka.consumer({ groupId, sessionTimeout: 10000, heartbeatInterval: 500, maxWaitTimeInMs: 200 });
    this.fromBeginning = fromBeginning;
    this.consumer.on(this.consumer.events.GROUP_JOIN, ({ payload }) => {
      this.assigned = payload.memberAssignment[topic] || [];
    });
    this.consumer.on(this.consumer.events.REBALANCING, () => {
      this.assigned = [];
    });
  }

  async start() {
    await this.consumer.connect();
    await this.consumer.subscribe({ topics: [topic], fromBeginning: this.fromBeginning });
    await this.consumer.run({
      autoCommitThreshold: 1,
      eachMessage: async ({ partition, message }) => {
        this.got[partition].push(message.value.toString());
        this.last = message;
      },
    });
    return this;
  }

  count() {
    return this.got.reduce((n, g) => n + g.length, 0);
  }

  async stop() {
    await this.consumer.disconnect();
  }
}

async function create() {
  assert.equal(await admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor: 1 }], waitForLeaders: true }), true);
  assert.equal(await admin.createTopics({ topics: [{ topic, numPartitions: partitions }] }), false);
}

async function describe() {
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  assert.equal(topics[0].partitions.length, partitions);
  assert(topics[0].partitions.every((p) => p.leader >= 0 && p.isr.length === 1));
  assert((await admin.listTopics()).includes(topic));
  assert.equal((await admin.describeCluster()).brokers.length, 1);
}

async function configs() {
  await admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name: topic, configEntries: [{ name: 'retention.ms', value: '7200000' }] }] });
  await until(async () => {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type: 2, name: topic }] });
    return resources[0].configEntries.find((e) => e.configName === 'retention.ms').configValue === '7200000';
  }, 'the new value');
}

async function consume() {
  const m = await new Member(`${group}-all`).start();
  try {
    await until(() => m.count() >= total(), 'all records');
    assert.deepEqual(m.got, written);
    assert.equal(m.last.key.toString(), 'k');
    assert.equal(m.last.headers.h.toString(), '1');
  } finally {
    await m.stop();
  }
  await admin.deleteGroups([`${group}-all`]);
}

async function offsets() {
  const o = await admin.fetchTopicOffsets(topic);
  for (const { partition, low, high } of o) {
    assert.equal(Number(low), 0);
    assert.equal(Number(high), written[partition].length);
  }
  const at = await admin.fetchTopicOffsetsByTimestamp(topic, 1);
  assert(at.every((p) => Number(p.offset) === 0));
}

async function groupOfTwo() {
  const a = await new Member(group).start();
  let b;
  try {
    await until(() => a.assigned.length === partitions, 'all partitions to the first member');
    await until(() => a.count() >= total(), 'all records');
    assert.deepEqual(a.got, written);
    b = await new Member(group).start();
    await until(() => a.assigned.length && b.assigned.length && a.assigned.length + b.assigned.length === partitions, 'the partitions shared');
    assert.deepEqual([...a.assigned, ...b.assigned].sort(), [0, 1, 2]);
    await a.stop();
    await until(() => b.assigned.length === partitions, 'all partitions to the second member');
    assert.equal(b.count(), 0, 'read again');
  } finally {
    await a.stop();
    if (b) await b.stop();
  }
}

async function describeGroup() {
  const { groups } = await admin.describeGroups([group]);
  assert.equal(groups[0].state, 'Empty');
  const [{ partitions: o }] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  for (const { partition, offset } of o) assert.equal(Number(offset), written[partition].length);
  assert((await admin.listGroups()).groups.some((g) => g.groupId === group));
}

async function resume() {
  const before = written.map((w) => w.length);
  await produce('resume');
  const m = await new Member(group).start();
  try {
    const want = written.map((w, p) => w.slice(before[p]));
    await until(() => m.count() >= want.reduce((n, w) => n + w.length, 0), 'what came since');
    assert.deepEqual(m.got, want);
  } finally {
    await m.stop();
  }
}

async function setOffsets() {
  await admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '4' }] });
  const [{ partitions: o }] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  assert.equal(o.find((p) => p.partition === 0).offset, '4');
}

async function deleteGroup() {
  await admin.deleteGroups([group]);
  assert(!(await admin.listGroups()).groups.some((g) => g.groupId === group));
}

async function grow() {
  await admin.createPartitions({ topicPartitions: [{ topic, count: partitions + 1 }] });
  const count = async () => (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length;
  await until(async () => (await count()) === partitions + 1, 'the new partition');
}

async function deleteTopic() {
  await admin.deleteTopics({ topics: [topic] });
  await until(async () => !(await admin.listTopics()).includes(topic), 'the topic gone');
}

async function main() {
  await plugIn();
  await admin.connect();
  await check('create a topic', create);
  await check('describe it', describe);
  await check('topic configs', configs);
  await check('produce none', () => produce('none'));
  await check('produce gzip', () => produce('gzip', { compression: CompressionTypes.GZIP }));
  await check('produce snappy', () => produce('snappy', { compression: CompressionTypes.Snappy }));
  await check('produce lz4', () => produce('lz4', { compression: CompressionTypes.LZ4 }));
  await check('produce zstd', () => produce('zstd', { compression: CompressionTypes.ZSTD }));
  await check('produce acks 0', () => produce('acks0', { acks: 0 }));
  await check('produce acks 1', () => produce('acks1', { acks: 1 }));
  await check('produce idempotent', () => produce('idempotent', { idempotent: true }));
  await check('consume from the beginning', consume);
  await check('offsets', offsets);
  await check('two members, a rebalance, commit', groupOfTwo);
  await check('describe the group', describeGroup);
  await check('resume at the committed offsets', resume);
  await check('set offsets', setOffsets);
  await check('delete the group', deleteGroup);
  await check('more partitions', grow);
  await check('delete the topic', deleteTopic);
  await admin.disconnect();
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
  if (process.stdout.writableLength) await once(process.stdout, 'drain');
  process.exit();
}

main();
