import type { OpenListenerOptions } from '../../platform/http/index.ts';

/** Thrown if the server cannot listen on a configured address. The message contains the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';

  /** `group` is the prefix of the options that set the address: `ops.` for the listener for operators. */
  constructor(at: OpenListenerOptions['at'], group: '' | 'ops.', cause: unknown) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    const where = 'path' in at ? `at ${at.path} (--ops-socket)` : `on ${at.host} port ${at.port}`;
    const reason = ('path' in at ? SOCKET_REASONS : REASONS)[code] ?? reasonOf(cause);
    super(`cannot listen ${where}: ${reason.replaceAll('--', group === '' ? '--' : '--ops-')}`, { cause });
  }
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'another program listens there. Stop it, or choose another port with --port (0 for any free one)',
  EACCES: 'only root may listen on that port. Choose one from 1024 up with --port',
  EADDRNOTAVAIL: 'this machine does not have that address. Choose another one with --host, 0.0.0.0 for all',
  ENOTFOUND: 'the host does not exist. Set an address of this machine with --host, 0.0.0.0 for all',
  EAI_AGAIN: 'the host cannot be resolved. Set an address of this machine with --host, 0.0.0.0 for all',
};

const SOCKET_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'its folder does not exist. Create it, or set another path',
  EACCES: 'its folder cannot be written. Change its permissions, or set another path',
};
