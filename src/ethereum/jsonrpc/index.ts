/**
 * JSON-RPC 2.0 over HTTP itself: reading requests and batches, the error table, joining answers as bytes.
 * It knows no method and no server.
 */
export {
  NoNodeError,
  overLimit,
  RateLimitedError,
  RetryLaterError,
  RPC_ERRORS,
  RpcError,
  type RpcErrorName,
} from './errors.ts';
export { type CallHandler, type HttpAnswer, handleBody, NotYetAdmitted, refuseBody } from './handle.ts';
export type { Call } from './request.ts';
export { errorResponse, type Part } from './response.ts';
export {
  isPooled,
  isStream,
  type Result,
  type ResultSink,
  type ResultStream,
} from './result.ts';
export { SharedTurn } from './sharedTurn.ts';
