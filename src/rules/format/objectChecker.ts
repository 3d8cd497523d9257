import type { TObject, TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { describeValue, type Fault, InvalidRule, pointerTo, quoteText } from '../invalidRule.ts';
import { plainText } from './plainText.ts';
import { allowedName, namePattern } from './ruleName.ts';
import { allowedZone, zonePattern } from './zoneName.ts';

/** Maximum number of unknown fields that an error response lists. A body of 64 KiB could contain thousands. */
const MAX_FAULTS = 100;

export type Members = Readonly<Record<string, unknown>>;

/** Checks the value of one member of a request body. Returns undefined if the value is valid. */
export type MemberCheck<Context> = (value: unknown, context: Context) => Fault | undefined;

/** Returns a request body as an object. Throws `InvalidRule` if the body is not a JSON object. */
export function plainObject(body: unknown): Members {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Members; // JSON object
  throw new InvalidRule([{ message: `The body must be a JSON object; got ${describeValue(body)}` }]);
}

/** Validates an object against a schema. Reports all faults: missing, invalid and unknown members. */
export class ObjectChecker<Context = void> {
  readonly #checks: ReadonlyMap<string, MemberCheck<Context>>;
  /** For each required member, the fault that is reported if it is missing. */
  readonly #required: ReadonlyMap<string, Fault>;

  /** A check in `ownChecks` replaces the check against the schema for the member of that name. */
  constructor(schema: TObject, ownChecks: Readonly<Record<string, MemberCheck<Context>>> = {}) {
    const properties = Object.entries(schema.properties);
    this.#checks = new Map(
      properties.map(([member, property]) => [member, ownChecks[member] ?? checkAgainst(member, property)]),
    );
    this.#required = new Map(
      properties
        .filter(([member]) => schema.required?.includes(member))
        .map(([member, property]) => {
          const message = `${member} is missing; it must be ${allowedValues(property)}`;
          return [member, { pointer: pointerTo(member), message }];
        }),
    );
  }

  faultsOf(object: Members, context: Context): Fault[] {
    const faults: Fault[] = [];
    for (const [member, check] of this.#checks) {
      const fault = Object.hasOwn(object, member)
        ? check(object[member], context)
        : this.#required.get(member);
      if (fault) faults.push(fault);
    }
    this.#addUnknown(object, faults);
    return faults;
  }

  #addUnknown(object: Members, faults: Fault[]): void {
    const unknown = Object.keys(object).filter((member) => !this.#checks.has(member));
    const known = [...this.#checks.keys()].join(', ');
    for (const member of unknown.slice(0, MAX_FAULTS))
      faults.push({
        pointer: pointerTo(shortened(member)),
        message: `${quoteText(member)} is not a valid field here; allowed: ${known}`,
      });
    if (unknown.length > MAX_FAULTS)
      faults.push({ message: `${unknown.length - MAX_FAULTS} more unknown fields are not listed` });
  }
}

function checkAgainst(member: string, schema: TSchema): MemberCheck<unknown> {
  const { type }: Keywords = schema;
  if (type === 'object') return checkObject(member, schema as TObject); // has properties
  let compiled: Validator | undefined;
  return (value) => {
    // The schema is compiled when it is first used, because compiling all schemas would slow down the startup.
    compiled ??= Compile(schema);
    if (compiled.Check(value) && isWellFormed(value)) return undefined;
    const message = `${member} must be ${allowedValues(schema)}; got ${describeValue(value)}`;
    return { pointer: pointerTo(member), message };
  };
}

/** Reports the first fault of an object that has at least one member. */
function checkObject(member: string, schema: TObject): MemberCheck<unknown> {
  const checker = new ObjectChecker(schema);
  const allowed = `an object with at least one of ${Object.keys(schema.properties).join(', ')}`;
  return (value) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject || Object.keys(value).length === 0)
      return {
        pointer: pointerTo(member),
        message: `${member} must be ${allowed}; got ${describeValue(value)}`,
      };
    const [fault] = checker.faultsOf(value as Members);
    return (
      fault && { pointer: pointerTo(member) + (fault.pointer ?? ''), message: `${member}: ${fault.message}` }
    );
  };
}

/** Maximum length of a member name in a JSON pointer. A longer name is no misspelled field, so it is cut. */
const MAX_POINTER_CHARACTERS = 256;

function shortened(member: string): string {
  return member.length <= MAX_POINTER_CHARACTERS ? member : `${member.slice(0, MAX_POINTER_CHARACTERS)}…`;
}

/** Returns false for a string with a lone surrogate, which cannot be encoded as UTF-8. */
function isWellFormed(value: unknown): boolean {
  return typeof value !== 'string' || !/\p{Surrogate}/u.test(value);
}

export function allowedValues(schema: TSchema): string {
  const { type, minimum, maximum, pattern, maxLength }: Keywords = schema;
  if ('enum' in schema && Array.isArray(schema.enum))
    return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (pattern === namePattern) return allowedName;
  if (pattern === zonePattern) return allowedZone;
  if (type === 'boolean') return 'true or false';
  if (type === 'string' && maxLength !== undefined && pattern === plainText(maxLength))
    return `a string of at most ${maxLength} characters, without control characters`;
  if (type === 'string') return pattern === undefined ? 'a string' : `a string that matches ${pattern}`;
  const from = minimum === undefined ? '' : ` from ${minimum}`;
  const to = maximum === undefined ? '' : ` to ${maximum}`;
  const orNull = Array.isArray(type) && type.includes('null') ? ' or null' : '';
  return `${[type].flat().includes('integer') ? 'an integer' : 'a number'}${from}${to}${orNull}`;
}

interface Keywords {
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}
