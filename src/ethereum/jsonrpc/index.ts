/**
 * JSON-RPC 2.0 over HTTP: parses single requests and batches, joins the bytes of responses, and defines the errors.
 * This module does not depend on the methods or on the HTTP server.
 */
export { type CallHandler, NotYetAdmitted } from './callHandler.ts';
export {
  NoNodeError,
  overLimit,
  RateLimitedError,
  RetryLaterError,
  RPC_ERRORS,
  RpcError,
  type RpcErrorName,
} from './errors.ts';
export { handleBody } from './handle.ts';
export type { HttpAnswer } from './httpAnswer.ts';
export type { Call } from './request.ts';
export { errorResponse, type Part } from './response.ts';
export {
  isPooled,
  isStream,
  type Result,
  type ResultSink,
  type ResultStream,
} from './result.ts';
export { TimeSlice } from './timeSlice.ts';
