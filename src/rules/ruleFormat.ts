import Type, { type TObject } from 'typebox';
import { type FieldSchema, fieldsOf, typeofField } from './fieldSchema.ts';
import { describeValue, type Fault, InvalidRule, pointerTo } from './invalidRule.ts';
import { ObjectChecker, plainObject } from './objectChecker.ts';
import type { NewRule, Rule, RuleSettings } from './rule.ts';
import { trimName } from './ruleName.ts';
import { fixedMembers, ruleSchema, serviceMembers } from './ruleSchema.ts';
import { type RuleSchemas, ruleSchemasOf } from './ruleSchemas.ts';

/** A field of a rule for those who show fields or ask for them. */
export interface RuleField {
  readonly member: keyof NewRule;
  readonly schema: FieldSchema;
  /** A creation may leave it out. */
  readonly isOptional: boolean;
  /** An update may change it. */
  readonly isSetting: boolean;
}

/**
 * What follows from the fields of a rule: who may send which, in what order they stand, what an older rule has, what makes
 * two rules the same. Made of a schema, so that a test can give it one with a field more.
 */
export class RuleFormat {
  readonly schemas: RuleSchemas;
  /** In the order in which every answer shows them. */
  readonly members: readonly (keyof Rule)[];
  readonly newRuleMembers: readonly (keyof NewRule)[];
  readonly settingMembers: readonly (keyof RuleSettings)[];
  /** What a creation says. */
  readonly fields: readonly RuleField[];
  /** Of the fields that have come since the first release: what a rule without them has. */
  readonly #defaults: Partial<Rule>;
  /** What `typeof` says of each member. */
  readonly #types: ReadonlyMap<string, string>;
  readonly #newRuleChecker: ObjectChecker;
  readonly #patchChecker: ObjectChecker<Rule>;

  /** Throws `TypeError` where the schema has a field that could not be stored, compared or shown. */
  constructor(schema: TObject = ruleSchema) {
    const fields = fieldsOf(schema);
    // The one place where names of fields are taken for members of a rule: every other schema has more of them, no other.
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
        unchangeable.map((member) => [member, (value, stored: Rule) => changeFault(stored, member, value)]),
      ),
    );
  }

  /** The rule that a body asks for. Throws `InvalidRule` with every fault of the body. */
  checkNewRule(body: unknown): NewRule {
    const members = plainObject(body);
    const faults = this.#newRuleChecker.faultsOf(members);
    if (faults.length > 0) throw new InvalidRule(faults);
    const rule = { ...this.#defaults, ...members } as NewRule; // its members were just checked against the schema
    return { ...pick(rule, this.newRuleMembers), name: trimName(rule.name) };
  }

  /**
   * The settings that a body changes in a stored rule: only those that differ from it, so an empty result means
   * that nothing changes. Throws `InvalidRule`, also where a member that cannot change comes with another value.
   */
  checkRulePatch(stored: Rule, body: unknown): Partial<RuleSettings> {
    const members = plainObject(body);
    const faults = this.#patchChecker.faultsOf(members, stored);
    if (faults.length > 0) throw new InvalidRule(faults);
    return this.changes(stored, members as Partial<RuleSettings>); // its members were just checked against the schema
  }

  /** The settings that are wanted and not as they are. */
  changes(rule: RuleSettings, wanted: Partial<RuleSettings>): Partial<RuleSettings> {
    return pick(
      wanted,
      this.settingMembers.filter((member) => wanted[member] !== undefined && wanted[member] !== rule[member]),
    );
  }

  /** Whether two rules are equal in every field. */
  isSame(one: Rule, other: Rule): boolean {
    return this.members.every((member) => one[member] === other[member]);
  }

  /** A rule that an older release made, with the fields that have come since. */
  complete(rule: Rule): Rule {
    for (const member in this.#defaults)
      if (!Object.hasOwn(rule, member)) return { ...this.#defaults, ...rule };
    return rule;
  }

  /**
   * What a server sent as a rule; undefined where it is none. Only the types of its members are looked at: the server
   * answers for their values, and a newer one may know more of them.
   */
  readRule(value: unknown): Rule | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    const rule = this.complete(value as Rule); // each member is checked below
    const isWhole = this.members.every((member) => typeof rule[member] === this.#types.get(member));
    return isWhole ? rule : undefined;
  }

  /** The rule with its members in their order, and no others: the same object where it is so already, as a list has many. */
  inOrder(rule: Rule): Rule {
    let count = 0;
    for (const member in rule) if (member !== this.members[count++]) return pick(rule, this.members);
    return count === this.members.length ? rule : pick(rule, this.members);
  }

  /** What a creation of the rule would say. */
  newRuleOf(rule: Rule): NewRule {
    return pick(rule, this.newRuleMembers);
  }

  /**
   * Equal for rules that ask for the same, however their bodies were spelt. A field that stands at its default is left out,
   * so that a retry finds the creation that an older release made.
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

/** The format of the rules that this release knows. */
export const ruleFormat = new RuleFormat();

function changeFault(stored: Rule, member: keyof Rule, value: unknown): Fault | undefined {
  if (value === stored[member]) return undefined;
  if (member === 'name' && typeof value === 'string' && trimName(value) === stored.name) return undefined;
  return {
    pointer: pointerTo(member),
    message: `${member} cannot be changed: it is ${describeValue(stored[member])}, and may be left out or sent as it is; got ${describeValue(value)}`,
  };
}

function pick<Key extends keyof Rule>(
  rule: Partial<Pick<Rule, Key>>,
  members: readonly Key[],
): Pick<Rule, Key> {
  const picked: Partial<Record<Key, unknown>> = {};
  for (const member of members) picked[member] = rule[member];
  return picked as Pick<Rule, Key>; // of a rule that has these members
}

/** `includes`, for a text that may be none of them. */
function isOneOf<Text extends string>(texts: readonly Text[], text: string): text is Text {
  return texts.some((one) => one === text);
}
