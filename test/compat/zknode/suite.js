// node-zookeeper-client against a ZooKeeper server. It counts its checks as the other suites do.
'use strict'
const assert = require('assert')
const zookeeper = require('node-zookeeper-client')

const { CreateMode, ACL, Permission, Id, Exception, State, Event } = zookeeper
const address = process.env.ZOOKEEPER
const root = '/node-' + Date.now().toString(16)
let passed = 0
let failed = 0

function connect () {
  return new Promise((resolve, reject) => {
    const c = zookeeper.createClient(address, { sessionTimeout: 10000, retries: 1 })
    const limit = setTimeout(() => reject(new Error('no session')), 60000)
    c.once('connected', () => { clearTimeout(limit); resolve(c) })
    c.connect()
  })
}

// call turns the client's callbacks into promises; several results become a list.
function call (client, method, ...args) {
  return new Promise((resolve, reject) => {
    client[method](...args, (err, ...results) => err ? reject(err) : resolve(results.length > 1 ? results : results[0]))
  })
}

async function refused (code, promise) {
  try {
    await promise
  } catch (err) {
    assert.strictEqual(err.getCode(), code, String(err))
    return
  }
  throw new Error('a refusal was expected')
}

async function check (name, body) {
  try {
    await body()
    passed++
    console.log('ok node ' + name)
  } catch (err) {
    failed++
    console.log('FAIL node ' + name + ': ' + (err.stack || err))
  }
}

async function until (what, done) {
  for (const end = Date.now() + 60000; ;) {
    if (await done()) return
    if (Date.now() > end) throw new Error('in vain: ' + what)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

async function main () {
  const a = await connect()
  const b = await connect()
  await call(a, 'mkdirp', root + '/x/y')

  await check('creates, reads, writes, deletes', async () => {
    const path = root + '/n'
    assert.strictEqual(await call(a, 'create', path, Buffer.from('one')), path)
    await refused(Exception.NODE_EXISTS, call(a, 'create', path))
    let [data, stat] = await call(b, 'getData', path)
    assert.strictEqual(data.toString(), 'one')
    assert.strictEqual(stat.version, 0)
    stat = await call(a, 'setData', path, Buffer.from('two'), 0)
    assert.strictEqual(stat.version, 1)
    await refused(Exception.BAD_VERSION, call(a, 'setData', path, Buffer.from('x'), 0))
    await call(a, 'create', path + '/c')
    await refused(Exception.NOT_EMPTY, call(a, 'remove', path))
    const [names] = await call(a, 'getChildren', path)
    assert.deepStrictEqual(names, ['c'])
    await call(a, 'removeRecursive', path)
    assert.strictEqual(await call(a, 'exists', path), null)
    await refused(Exception.NO_NODE, call(a, 'getData', path))
  })
  await check('sequential and ephemeral nodes', async () => {
    const c = await connect()
    const first = await call(c, 'create', root + '/e-', CreateMode.EPHEMERAL_SEQUENTIAL)
    const second = await call(c, 'create', root + '/e-', CreateMode.EPHEMERAL_SEQUENTIAL)
    assert.strictEqual(Number(second.slice(-10)), Number(first.slice(-10)) + 1)
    assert.ok(await call(b, 'exists', first))
    c.close()
    await until('the node goes', async () => await call(b, 'exists', first) === null)
  })
  await check('watches', async () => {
    const path = root + '/w'
    const seen = []
    const note = event => seen.push(event.getName() + ' ' + event.getPath())
    assert.strictEqual(await call(b, 'exists', path, note), null)
    await call(a, 'create', path)
    await until('created', () => seen.length === 1)
    await call(b, 'getData', path, note)
    await call(a, 'setData', path, Buffer.from('1'))
    await until('changed', () => seen.length === 2)
    await call(b, 'getChildren', path, note)
    await call(a, 'create', path + '/c')
    await until('children', () => seen.length === 3)
    await call(a, 'remove', path + '/c')
    await call(b, 'exists', path, note)
    await call(a, 'remove', path)
    await until('deleted', () => seen.length === 4)
    assert.deepStrictEqual(seen, [
      `NODE_CREATED ${path}`, `NODE_DATA_CHANGED ${path}`, `NODE_CHILDREN_CHANGED ${path}`, `NODE_DELETED ${path}`
    ])
    assert.ok(Event.NODE_CREATED !== undefined)
  })
  await check('access lists', async () => {
    const path = root + '/acl'
    await call(a, 'create', path, Buffer.from('x'), [new ACL(Permission.READ, new Id('world', 'anyone'))])
    await refused(Exception.NO_AUTH, call(a, 'setData', path, Buffer.from('y')))
    const [acls] = await call(a, 'getACL', path)
    assert.strictEqual(acls[0].permission, Permission.READ)
    const other = root + '/mine'
    b.addAuthInfo('digest', Buffer.from('u:p'))
    await call(b, 'create', other, Buffer.from('x'), [new ACL(Permission.ALL, new Id('auth', ''))])
    await refused(Exception.NO_AUTH, call(a, 'getData', other))
    assert.strictEqual((await call(b, 'getData', other))[0].toString(), 'x')
  })
  await check('transactions', async () => {
    const t = a.transaction().create(root + '/t').setData(root + '/t', Buffer.from('1')).check(root + '/t', 1)
    const results = await new Promise((resolve, reject) => t.commit((err, r) => err ? reject(err) : resolve(r)))
    assert.strictEqual(results.length, 3)
    const bad = a.transaction().create(root + '/t2').remove(root + '/none')
    await refused(Exception.NO_NODE, new Promise((resolve, reject) => bad.commit((err, r) => err ? reject(err) : resolve(r))))
    assert.strictEqual(await call(a, 'exists', root + '/t2'), null)
  })
  await check('many requests at once', async () => {
    const all = []
    for (let i = 0; i < 500; i++) all.push(call(a, 'create', root + '/x/m-', Buffer.from('' + i), CreateMode.PERSISTENT_SEQUENTIAL))
    const names = await Promise.all(all)
    assert.deepStrictEqual(names, [...names].sort())
  })
  await check('state', async () => {
    assert.strictEqual(a.getState(), State.SYNC_CONNECTED)
    assert.ok(a.getSessionTimeout() > 0)
    assert.strictEqual(a.getSessionId().length, 8)
  })
  a.close()
  b.close()
}

main().catch(err => { failed++; console.log('FAIL node: ' + err.stack) }).then(() => {
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(failed === 0 && passed > 0 ? 0 : 1)
})
