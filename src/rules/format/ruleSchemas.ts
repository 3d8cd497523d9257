import Type, { type TObject, type TSchema } from 'typebox';

/** Members of a rule by use. Each list is in the order of the schema. */
interface Roles {
  readonly members: readonly string[];
  readonly newRuleMembers: readonly string[];
  readonly settingMembers: readonly string[];
}

export interface RuleSchemas {
  readonly newRule: TObject;
  /** Schema of an update's body: any subset of the settings. Other members are accepted with their stored value. */
  readonly rulePatch: TObject;
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
  const readOnly = { readOnly: true, description: 'Accepted only if it equals the stored value.' };
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

/** Returns the schema of a member as required, without its default, and with additional keywords. */
function withKeywords(schema: TSchema, keywords: object): TSchema {
  // A spread drops the optional flag, which TypeBox stores in a non-enumerable member.
  const { default: _, ...rest } = schema as TSchema & { default?: unknown }; // any schema may have one
  return { ...rest, ...keywords } as TSchema; // still a schema, but TypeBox's types cannot express it
}
