/** Why a connection was closed. */
export const CLOSE_REASONS = [
  'client',
  'gone',
  'idle',
  'slow',
  'too_large',
  'invalid',
  'unauthorized',
  'missed_blocks',
  'stopping',
] as const;
export type CloseReason = (typeof CLOSE_REASONS)[number];

/** With which code of RFC 6455 the server closes, and with which words: they are in a frame of at most 125 bytes. */
const CLOSINGS: Partial<Record<CloseReason, { readonly code: number; readonly text: string }>> = {
  idle: { code: 1001, text: 'nothing came, not even an answer to a ping' },
  stopping: { code: 1001, text: 'the gateway is stopping; connect again' },
  slow: { code: 1008, text: 'too slow: more was sent than you have read; connect again' },
  unauthorized: { code: 1008, text: 'the API key is not valid any more' },
  missed_blocks: { code: 1013, text: 'blocks were missed: connect again, and ask for what is missing' },
};

export const closingOf = (reason: CloseReason): { readonly code: number; readonly text: string } =>
  CLOSINGS[reason] ?? { code: 1011, text: '' };

/** Why a connection failed. What is no WebSocket as RFC 6455 has it, `ws` closes itself: with 1002, 1007, 1008 or 1009. */
export function reasonOf(error: Error & { readonly code?: string }): CloseReason {
  if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return 'too_large';
  return error.code?.startsWith('WS_ERR_') === true ? 'invalid' : 'gone';
}
