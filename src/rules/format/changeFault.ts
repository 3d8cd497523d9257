import { describeValue, type Fault, pointerTo } from '../invalidRule.ts';
import { isSameInstant } from '../timestamp.ts';

/**
 * Returns a fault if a PATCH would change a member that cannot be changed. A timestamp is equal if it is the same
 * instant, and an id is equal in any case, so that a client can send back what it has read and parsed.
 */
export function changeFault(member: string, stored: string, value: unknown): Fault | undefined {
  if (value === stored || isEquivalent(member, stored, value)) return undefined;
  return {
    pointer: pointerTo(member),
    message: `${member} cannot be changed: it is ${describeValue(stored)}; omit it or send this value; got ${describeValue(value)}`,
  };
}

function isEquivalent(member: string, stored: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (member === 'id') return value.toLowerCase() === stored;
  return (member === 'created_on' || member === 'modified_on') && isSameInstant(value, stored);
}
