/** The server cannot listen where it was told to. The message says why and what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  constructor(host: string, port: number, cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    super(`cannot listen on ${host} port ${port}: ${REASONS[code] ?? String(cause)}`, { cause });
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another program listens there. Stop it, or choose another port with --port (0 for any free one)',
  EACCES: 'only root may listen on that port. Choose one from 1024 up with --port',
  EADDRNOTAVAIL: 'this machine does not have that address. Choose another one with --host, 0.0.0.0 for all',
  ENOTFOUND: 'there is no such host. Name an address of this machine with --host, 0.0.0.0 for all',
  EAI_AGAIN: 'that host cannot be looked up. Name an address of this machine with --host, 0.0.0.0 for all',
};
