// Subscribes to the traces of an address, as an application does:
// `node subscribeTraces.js LIBRARY URL ADDRESS FROM_BLOCK`
// Prints each trace as a line to stdout, and each opened connection to stderr.
const [library, url, address, fromBlock] = process.argv.slice(2);
const { createFloodgateClient } = await import(library);

// Node 20 has no built-in WebSocket.
const Base = globalThis.WebSocket ?? (await import('ws')).WebSocket;
class WebSocket extends Base {
  constructor(at) {
    super(at);
    this.addEventListener('open', () => process.stderr.write(`open ${new URL(at).protocol}\n`));
  }
}

const client = createFloodgateClient({ url, WebSocket });
const onError = (error) => process.stderr.write(`${error}\n`);
for await (const trace of client.subscribeTraces({ address, fromBlock: Number(fromBlock) }, { onError }))
  process.stdout.write(`${JSON.stringify(trace)}\n`);
