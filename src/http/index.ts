export { type Interceptor, interceptRequests } from './interceptRequests.ts';
export { createListener } from './listener.ts';
export { operations, type Readiness } from './operations.ts';
export { Readers, type ReadersOptions } from './unsent/readers.ts';
export { TooMuchUnsentError } from './unsent/tooMuchUnsent.ts';
export { TrackedResponse } from './unsent/trackedResponse.ts';
