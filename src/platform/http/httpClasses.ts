import type { IncomingMessage, ServerResponse } from 'node:http';
import { TrackedResponse } from './unsent/trackedResponse.ts';
import { UpgradableRequest } from './webSocket/upgradableRequest.ts';

/** Options for node's servers, whose types allow only node's own request and response classes. */
export const HTTP_CLASSES = {
  IncomingMessage: UpgradableRequest as unknown as typeof IncomingMessage,
  ServerResponse: TrackedResponse as unknown as typeof ServerResponse,
};
