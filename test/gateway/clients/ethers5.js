// Uses ethers 5 with its defaults, as an application does, and prints the results as JSON.
import { createRequire } from 'node:module';

const { ethers } = createRequire(new URL('../../../.ci/clients/', import.meta.url))('ethers5');
const [url, key, other, bytecode] = process.argv.slice(2);
const ABI = [
  'function set(uint256)',
  'function get() view returns (uint256)',
  'function fail() view',
  'event Set(uint256)',
];

const provider = new ethers.providers.JsonRpcProvider(url);
provider.pollingInterval = 50; // The default, 4 seconds, would only make the test slower.
const wallet = new ethers.Wallet(key, provider);
const before = await provider.getBalance(other);
const paid = await (await wallet.sendTransaction({ to: other, value: 7 })).wait();
const contract = await (await new ethers.ContractFactory(ABI, bytecode, wallet).deploy()).deployed();
const stored = await (await contract.set(42)).wait();
const logs = await contract.queryFilter('Set', paid.blockNumber, 'latest');
const reverted = await contract.fail().catch(({ code, reason }) => ({ code, reason }));

const batch = new ethers.providers.JsonRpcBatchProvider(url);
const [block, after] = await Promise.all([batch.getBlock('latest'), batch.getBalance(other)]);

const socket = new ethers.providers.WebSocketProvider(url.replace('http', 'ws'));
const subscribed = new Promise((resolve) => {
  contract.connect(socket).on('Set', (value) => resolve([value.toNumber()]));
});
await socket.getBlockNumber(); // The subscription was sent before this request, on the same connection.
await (await contract.set(43)).wait();

process.stdout.write(
  JSON.stringify({
    chainId: (await provider.getNetwork()).chainId,
    statuses: [paid.status, stored.status],
    received: after.sub(before).toNumber(),
    logs: logs.map(({ args }) => args[0].toNumber()),
    subscribed: await subscribed,
    revertsWithReason: reverted.code === 'CALL_EXCEPTION' && reverted.reason === 'no',
    batched: block.number >= stored.blockNumber,
  }),
);
await socket.destroy();
