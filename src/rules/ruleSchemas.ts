import Type, { type TObject, type TSchema } from 'typebox';

/** Which fields stand where, each in the order of the schema. */
interface Roles {
  readonly members: readonly string[];
  readonly newRuleMembers: readonly string[];
  readonly settingMembers: readonly string[];
}

/** The bodies and the answer that the interface has for a rule. */
export interface RuleSchemas {
  /** The body of a creation. */
  readonly newRule: TObject;
  /** The body of an update: any subset of the settings. What it cannot change may come along unchanged. */
  readonly rulePatch: TObject;
  /** A rule as every answer shows it. */
  readonly rule: TObject;
}

export function ruleSchemasOf({ properties }: TObject, roles: Roles): RuleSchemas {
  const { members, newRuleMembers, settingMembers } = roles;
  const object = (entries: readonly (readonly [string, TSchema])[]) =>
    Type.Object(Object.fromEntries(entries), { additionalProperties: false });
  const schemaOf = (member: string) => properties[member] as TSchema; // the members are those of `properties`
  const required = (member: string) => [member, withKeywords(schemaOf(member), {})] as const;
  const optional = (member: string, keywords: object) =>
    [member, Type.Optional(withKeywords(schemaOf(member), keywords))] as const;
  const asDeclared = (member: string) =>
    Type.IsOptional(schemaOf(member)) ? ([member, schemaOf(member)] as const) : required(member);
  const readOnly = { readOnly: true, description: 'Accepted only when it equals what is stored.' };
  return {
    newRule: object(newRuleMembers.map(asDeclared)),
    rulePatch: object([
      ...settingMembers.map((member) => optional(member, {})),
      ...members
        .filter((member) => !settingMembers.includes(member))
        .map((member) => optional(member, readOnly)),
    ]),
    rule: object(members.map(required)),
  };
}

/** The schema, required, without its default, and with other keywords. */
function withKeywords(schema: TSchema, keywords: object): TSchema {
  // A spread leaves behind that it is optional: TypeBox keeps that in a member that is not enumerable.
  const { default: _, ...rest } = schema as TSchema & { default?: unknown }; // any schema may have one
  return { ...rest, ...keywords } as TSchema; // a schema still, of which TypeBox's types know nothing
}
