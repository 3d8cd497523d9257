import type { TObject, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describeValue, type Fault, InvalidRule, pointerTo, shown } from './invalidRule.ts';
import { type NewRule, type Rule, type RuleSettings, settingMembers } from './rule.ts';
import { MAX_NAME_CHARACTERS, trimName } from './ruleName.ts';
import { newRuleSchema, rulePatchSchema } from './ruleSchema.ts';

/** Most faults that one answer lists: a body of 64 KiB could have thousands, and the answer would dwarf it. */
const MAX_FAULTS = 100;

/** The rule that a body asks for. Throws `InvalidRule` with every fault of the body. */
export function checkNewRule(body: unknown): NewRule {
  const members = plainObject(body);
  const faults = newRuleChecker.faultsOf(members);
  if (faults.length > 0) throw new InvalidRule(faults);
  const rule = members as unknown as NewRule; // every member was just checked against the schema of NewRule
  return {
    scope: rule.scope,
    name: trimName(rule.name),
    mode: rule.mode,
    profile_sensitivity: rule.profile_sensitivity,
    rate_sensitivity: rule.rate_sensitivity,
    burst_sensitivity: rule.burst_sensitivity,
  };
}

/**
 * The settings that a body changes in a stored rule: only those that differ from it, so an empty result means
 * that nothing changes. Throws `InvalidRule`, also where a member that cannot change comes with another value.
 */
export function checkRulePatch(stored: Rule, body: unknown): Partial<RuleSettings> {
  const members = plainObject(body);
  const faults = patchChecker.faultsOf(members, (member, value) => fixedMemberFault(stored, member, value));
  if (faults.length > 0) throw new InvalidRule(faults);
  const settings = members as Partial<RuleSettings>; // every member was just checked against the patch schema
  const changed: Record<string, string> = {};
  for (const member of settingMembers) {
    const value = settings[member];
    if (value !== undefined && value !== stored[member]) changed[member] = value;
  }
  return changed as Partial<RuleSettings>; // members and values come from settings
}

function fixedMemberFault(stored: Rule, member: string, value: unknown): Fault | undefined {
  if (!isFixedMember(member)) return undefined;
  const same =
    value === stored[member] || (member === 'name' && isString(value) && trimName(value) === stored.name);
  if (same) return undefined;
  return {
    pointer: pointerTo(member),
    message: `${member} cannot be changed: it is ${shown(stored[member])}, and may be left out or sent as it is; got ${describeValue(value)}`,
  };
}

const fixedMembers = ['id', 'scope', 'name', 'created_on', 'modified_on'] as const;

function isFixedMember(member: string): member is (typeof fixedMembers)[number] {
  return fixedMembers.some((fixed) => fixed === member);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

type Members = Readonly<Record<string, unknown>>;

function plainObject(body: unknown): Members {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Members; // JSON object
  throw new InvalidRule([{ message: `The body must be a JSON object; got ${describeValue(body)}` }]);
}

/** Finds every fault of an object against a flat schema: members that are missing, wrong or unknown. */
class ObjectChecker {
  readonly #members: ReadonlyMap<string, { allowed: string; check: (value: unknown) => boolean }>;
  readonly #required: readonly string[];

  constructor(schema: TObject) {
    this.#required = schema.required ?? [];
    this.#members = new Map(
      Object.entries(schema.properties).map(([member, property]) => {
        const compiled = Compile(property);
        return [
          member,
          {
            allowed: allowedValues(property),
            check: (value) => compiled.Check(value) && isWellFormed(value),
          },
        ];
      }),
    );
  }

  /** `instead` may take the place of the check against the schema, and answers a fault or undefined for a member. */
  faultsOf(object: Members, instead?: (member: string, value: unknown) => Fault | undefined): Fault[] {
    const faults: Fault[] = [];
    for (const [member, { allowed, check }] of this.#members) {
      const pointer = pointerTo(member);
      if (!Object.hasOwn(object, member)) {
        if (this.#required.includes(member))
          faults.push({ pointer, message: `${member} is missing; it must be ${allowed}` });
        continue;
      }
      const value = object[member];
      if (instead && isFixedMember(member)) {
        const fault = instead(member, value);
        if (fault) faults.push(fault);
      } else if (!check(value)) {
        faults.push({ pointer, message: `${member} must be ${allowed}; got ${describeValue(value)}` });
      }
    }
    this.#addUnknown(object, faults);
    return faults;
  }

  #addUnknown(object: Members, faults: Fault[]): void {
    const unknown = Object.keys(object).filter((member) => !this.#members.has(member));
    const known = [...this.#members.keys()].join(', ');
    for (const member of unknown.slice(0, MAX_FAULTS))
      faults.push({
        pointer: pointerTo(shortened(member)),
        message: `${shown(member)} is not a field that may be sent here; these are: ${known}`,
      });
    if (unknown.length > MAX_FAULTS)
      faults.push({ message: `${unknown.length - MAX_FAULTS} more unknown fields are not listed` });
  }
}

/** Longest member name that a pointer repeats: longer ones are no misspelling of a field. */
const MAX_POINTER_CHARACTERS = 256;

function shortened(member: string): string {
  return member.length <= MAX_POINTER_CHARACTERS ? member : `${member.slice(0, MAX_POINTER_CHARACTERS)}…`;
}

/** No string of ours has half a surrogate pair: it could not be written as UTF-8. */
function isWellFormed(value: unknown): boolean {
  return typeof value !== 'string' || !/\p{Surrogate}/u.test(value);
}

function allowedValues(schema: TSchema): string {
  if ('enum' in schema && Array.isArray(schema.enum))
    return `one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  return `a string of 1 to ${MAX_NAME_CHARACTERS} visible characters`;
}

const newRuleChecker = new ObjectChecker(newRuleSchema);
const patchChecker = new ObjectChecker(rulePatchSchema);
