import { randomUUID } from 'node:crypto';

/** Length of the id of an API key. Eight characters are short enough to type. */
const ID_LENGTH = 8;

export const newKeyId = (): string => randomUUID().slice(0, ID_LENGTH);
