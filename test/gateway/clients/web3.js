// Uses web3.js 1 or 4 with its defaults, as an application does, and prints the results as JSON.
import { createRequire } from 'node:module';

const [url, key, other, bytecode, name] = process.argv.slice(2);
const library = createRequire(new URL('../../../.ci/clients/', import.meta.url))(name);
const Web3 = library.Web3 ?? library;
const ABI = [
  {
    type: 'function',
    name: 'set',
    stateMutability: 'nonpayable',
    inputs: [{ name: 'value', type: 'uint256' }],
    outputs: [],
  },
  { type: 'function', name: 'fail', stateMutability: 'view', inputs: [], outputs: [] },
  { type: 'event', name: 'Set', inputs: [{ name: 'value', type: 'uint256', indexed: false }] },
];

/** Adds the client's account, and sets short intervals because the defaults would only make the test slower. */
const connect = (to) => {
  const web3 = new Web3(to);
  web3.eth.accounts.wallet.add(key);
  web3.eth.transactionPollingInterval = 50;
  return web3;
};
const web3 = connect(url);
const { address } = web3.eth.accounts.privateKeyToAccount(key);
// web3.js 1 has no default gas limit.
const options = { from: address, ...(name === 'web3-1' && { gas: 1_000_000 }) };
const before = BigInt(await web3.eth.getBalance(other));
const paid = await web3.eth.sendTransaction({ ...options, to: other, value: '7' });
const contract = await new web3.eth.Contract(ABI).deploy({ data: bytecode }).send(options);
const stored = await contract.methods.set(42).send(options);
const logs = await contract.getPastEvents('Set', { fromBlock: paid.blockNumber, toBlock: 'latest' });
const reverted = await contract.methods
  .fail()
  .call()
  .then(String, (error) => error);

const batch = new web3.BatchRequest();
const inBatch = (method, params, request) =>
  name === 'web3-4'
    ? batch.add({ jsonrpc: '2.0', id: method, method, params })
    : new Promise((resolve, reject) => {
        batch.add(request(...params, (error, result) => (error ? reject(error) : resolve(result))));
      });
const results = [
  inBatch('eth_blockNumber', [], web3.eth.getBlockNumber.request),
  inBatch('eth_getBalance', [other, 'latest'], web3.eth.getBalance.request),
];
await batch.execute();
const [block, after] = await Promise.all(results);

const socket = connect(url.replace('http', 'ws'));
const subscription = new socket.eth.Contract(ABI, contract.options.address).events.Set();
const subscribed = new Promise((resolve, reject) => {
  subscription.on('data', ({ returnValues }) => resolve([Number(returnValues.value)]));
  subscription.on('error', reject);
});
await new Promise((resolve) => subscription.on('connected', resolve));
await contract.methods.set(43).send(options);

process.stdout.write(
  JSON.stringify({
    chainId: Number(await web3.eth.getChainId()),
    statuses: [paid, stored].map(({ status }) => Number(status)),
    received: Number(BigInt(after) - before),
    logs: logs.map(({ returnValues }) => Number(returnValues.value)),
    subscribed: await subscribed,
    revertsWithReason: /revert.*\bno\b/.test(`${reverted} ${reverted.cause ?? ''}`),
    batched: BigInt(block) >= BigInt(stored.blockNumber),
  }),
  () => process.exit(), // The library keeps timers running.
);
