import Type, { type TObject } from 'typebox';
import { describeValue, type Fault, InvalidRule, pointerTo } from '../invalidRule.ts';
import type { NewRule, Rule, RuleSettings } from '../rule.ts';
import { changeFault } from './changeFault.ts';
import { type FieldSchema, fieldsOf, typeofField } from './fieldSchema.ts';
import { type Members, ObjectChecker, plainObject } from './objectChecker.ts';
import { allowedLocation, isLocationName, trimName } from './ruleName.ts';
import { fixedMembers, ruleSchema, serviceMembers } from './ruleSchema.ts';
import { type RuleSchemas, ruleSchemasOf } from './ruleSchemas.ts';

export interface RuleField {
  readonly member: keyof NewRule;
  readonly schema: FieldSchema;
  readonly isOptional: boolean;
  readonly isSetting: boolean;
}

/** Derives request schemas, member order, defaults and equality from a schema of rules. Tests pass other schemas. */
export class RuleFormat {
  readonly schemas: RuleSchemas;
  /** Members of a rule, in the order in which all responses contain them. */
  readonly members: readonly (keyof Rule)[];
  readonly newRuleMembers: readonly (keyof NewRule)[];
  readonly settingMembers: readonly (keyof RuleSettings)[];
  readonly fields: readonly RuleField[];
  /** Default values of the fields that were added after the first release. */
  readonly #defaults: Partial<Rule>;
  readonly #types: ReadonlyMap<string, string>;
  readonly #newRuleChecker: ObjectChecker;
  readonly #patchChecker: ObjectChecker<Rule>;

  /** Throws `TypeError` if the schema has a field that cannot be stored, compared or displayed. */
  constructor(schema: TObject = ruleSchema) {
    const fields = fieldsOf(schema);
    // Only this line assumes that field names are members of `Rule`. The schemas of tests only add fields to it.
    this.members = fields.map(([member]) => member) as (keyof Rule)[];
    this.newRuleMembers = this.members.filter((member) => !isOneOf(serviceMembers, member));
    this.settingMembers = this.newRuleMembers.filter((member) => !isOneOf(fixedMembers, member));
    this.schemas = ruleSchemasOf(schema, this);
    this.#types = new Map(fields.map(([member, field]) => [member, typeofField(field)]));
    this.#defaults = Object.fromEntries(
      fields.flatMap(([member, field]) => (field.default === undefined ? [] : [[member, field.default]])),
    );
    this.fields = fields.flatMap(([name, field]) => {
      const member = this.newRuleMembers.find((one) => one === name);
      if (member === undefined) return [];
      const isSetting = isOneOf(this.settingMembers, member);
      return [{ member, schema: field, isOptional: Type.IsOptional(field), isSetting }];
    });
    this.#newRuleChecker = new ObjectChecker(this.schemas.newRule);
    const unchangeable = this.members.filter((member) => !isOneOf(this.settingMembers, member));
    this.#patchChecker = new ObjectChecker(
      this.schemas.rulePatch,
      Object.fromEntries(
        unchangeable.map((member) => [
          member,
          (value, stored: Rule) => ruleChangeFault(stored, member, value),
        ]),
      ),
    );
  }

  /** Returns the rule that a request body defines. Throws `InvalidRule` with all faults of the body. */
  checkNewRule(body: unknown): NewRule {
    const members = plainObject(body);
    const faults = this.#newRuleChecker.faultsOf(members);
    const isNameValid = faults.every(({ pointer }) => pointer !== pointerTo('name'));
    if (isNameValid) faults.push(...locationFaults(members));
    if (faults.length > 0) throw new InvalidRule(faults);
    const rule = { ...this.#defaults, ...members } as NewRule; // its members were just checked against the schema
    return { ...pick(rule, this.newRuleMembers), name: trimName(rule.name) };
  }

  /**
   * Returns the settings that a body changes. Throws `InvalidRule`, also if it changes a member that is no setting.
   */
  checkRulePatch(stored: Rule, body: unknown): Partial<RuleSettings> {
    const members = plainObject(body);
    const faults = this.#patchChecker.faultsOf(members, stored);
    if (faults.length > 0) throw new InvalidRule(faults);
    return this.changes(stored, members as Partial<RuleSettings>); // its members were just checked against the schema
  }

  changes(rule: RuleSettings, wanted: Partial<RuleSettings>): Partial<RuleSettings> {
    return pick(
      wanted,
      this.settingMembers.filter((member) => wanted[member] !== undefined && wanted[member] !== rule[member]),
    );
  }

  isSame(one: Rule, other: Rule): boolean {
    return this.members.every((member) => one[member] === other[member]);
  }

  /** Adds default values for fields that a rule lacks because an older release stored it. */
  withDefaults(rule: Rule): Rule {
    for (const member in this.#defaults)
      if (!Object.hasOwn(rule, member)) return { ...this.#defaults, ...rule };
    return rule;
  }

  /**
   * Returns a rule that a server sent, or undefined if it is none. Checks only the types of members, because a newer
   * server may allow more values.
   */
  readRule(value: unknown): Rule | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    const rule = this.withDefaults(value as Rule); // each member is checked below
    const isWhole = this.members.every((member) => typeof rule[member] === this.#types.get(member));
    return isWhole ? rule : undefined;
  }

  /**
   * Returns a rule with exactly the members of the schema, in its order. A rule that is already so is not copied,
   * because lists can have many rules.
   */
  orderMembers(rule: Rule): Rule {
    let count = 0;
    for (const member in rule) if (member !== this.members[count++]) return pick(rule, this.members);
    return count === this.members.length ? rule : pick(rule, this.members);
  }

  /** Returns the members of a rule that a request to create it contains. */
  newRuleOf(rule: Rule): NewRule {
    return pick(rule, this.newRuleMembers);
  }

  /**
   * Returns a text that is equal for equivalent new rules, regardless of the formatting of the request. It omits each
   * later added field with its default value, so that a retry matches a creation that an older release stored.
   */
  canonicalText(rule: NewRule): string {
    const added = this.newRuleMembers.filter((member) => member in this.#defaults);
    return JSON.stringify([
      ...this.newRuleMembers.filter((member) => !added.includes(member)).map((member) => rule[member]),
      ...added
        .filter((member) => rule[member] !== this.#defaults[member])
        .map((member) => [member, rule[member]]),
    ]);
  }
}

/** Format of rules in this release of Floodgate. */
export const ruleFormat = new RuleFormat();

/**
 * Returns a fault if a new rule for a region or datacenter has a name that is valid only for a global rule. Stored rules
 * are not checked, because an earlier release accepted such names.
 */
function locationFaults({ scope, name }: Members): Fault[] {
  if (typeof name !== 'string' || (scope !== 'region' && scope !== 'datacenter')) return [];
  if (isLocationName(trimName(name))) return [];
  const message = `name must be ${allowedLocation}, because the scope is region or datacenter; got ${describeValue(name)}`;
  return [{ pointer: pointerTo('name'), message }];
}

function ruleChangeFault(stored: Rule, member: keyof Rule, value: unknown): Fault | undefined {
  if (member === 'name' && typeof value === 'string' && trimName(value) === stored.name) return undefined;
  return changeFault(member, stored[member], value);
}

function pick<Key extends keyof Rule>(
  rule: Partial<Pick<Rule, Key>>,
  members: readonly Key[],
): Pick<Rule, Key> {
  const picked: Partial<Record<Key, unknown>> = {};
  for (const member of members) picked[member] = rule[member];
  return picked as Pick<Rule, Key>; // `rule` has these members
}

/** Like `includes`, but a type guard. */
function isOneOf<Text extends string>(texts: readonly Text[], text: string): text is Text {
  return texts.some((one) => one === text);
}
