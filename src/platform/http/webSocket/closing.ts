/** Reasons for closing a WebSocket connection. */
export const CLOSE_REASONS = [
  'client',
  'gone',
  'idle',
  'slow',
  'too_large',
  'invalid',
  'unauthorized',
  'rejected',
  'unfinished',
  'missed_blocks',
  'stopping',
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** Close codes and texts sent by the server (RFC 6455). Code and text must fit in a frame of 125 bytes. */
const CLOSINGS: Partial<Record<CloseReason, { readonly code: number; readonly text: string }>> = {
  idle: { code: 1001, text: 'idle timeout: no message and no pong received' },
  stopping: { code: 1001, text: 'the gateway is stopping; reconnect' },
  slow: { code: 1008, text: 'slow consumer: send buffer limit exceeded; reconnect' },
  unauthorized: { code: 1008, text: 'the API key was revoked, has expired, or no longer allows this' },
  rejected: { code: 1008, text: 'too many requests in a row were rejected; see their errors' },
  unfinished: { code: 1013, text: 'too many unfinished messages from this address; try again later' },
  missed_blocks: { code: 1013, text: 'blocks were missed: reconnect and request the missing blocks' },
};

export const closeFrameOf = (reason: CloseReason): { readonly code: number; readonly text: string } =>
  CLOSINGS[reason] ?? { code: 1011, text: '' };

/**
 * Returns the close reason for a connection error. After a protocol violation (RFC 6455) `ws` itself closes with
 * 1002, 1007, 1008 or 1009.
 */
export function closeReasonOf(error: Error & { readonly code?: string }): CloseReason {
  if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return 'too_large';
  return error.code?.startsWith('WS_ERR_') === true ? 'invalid' : 'gone';
}
