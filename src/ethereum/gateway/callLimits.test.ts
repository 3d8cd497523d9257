import { expect, it } from 'vitest';
import { ConfigSchema } from '../../config/schema.ts';
import { newGatewayKeySchema } from '../../rules/api/document/keySchemas.ts';
import { DEFAULT_LIMITS, MAX_LIMITS } from './callLimits.ts';

it('configuration and keys API have the defaults and maximum values of the gateway', () => {
  const configured = ConfigSchema.properties.gateway.properties.limits.properties;
  const ofKeys = Object.values(newGatewayKeySchema.properties.limits.properties);
  const of = (schemas: object[], member: string) => schemas.map((schema) => schema[member as keyof object]);
  expect(Object.keys(configured)).toEqual(Object.keys(MAX_LIMITS));
  expect(of(Object.values(configured), 'maximum')).toEqual(Object.values(MAX_LIMITS));
  expect(of(Object.values(configured), 'default')).toEqual(Object.values(DEFAULT_LIMITS));
  expect(of(ofKeys, 'maximum')).toEqual(Object.values(MAX_LIMITS));
});
