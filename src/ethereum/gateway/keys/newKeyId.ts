import { randomUUID } from 'node:crypto';

/** An id is a name for a key that is short enough to type. */
const ID_LENGTH = 8;

export const newKeyId = (): string => randomUUID().slice(0, ID_LENGTH);
