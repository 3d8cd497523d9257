import { expect, it } from 'vitest';
import { ConfigSchema } from '../../config/index.ts';
import { type CallLimit, DEFAULT_LIMITS, MAX_LIMITS } from '../../ethereum/gateway/index.ts';

it('gateway.limits has the defaults and maximum values of the gateway', () => {
  const options = ConfigSchema.properties.gateway.properties.limits.properties;
  expect(Object.keys(options)).toEqual(Object.keys(MAX_LIMITS));
  for (const [name, option] of Object.entries(options)) {
    const limit = name as CallLimit; // checked above
    expect(option).toMatchObject({ minimum: 1, maximum: MAX_LIMITS[limit], default: DEFAULT_LIMITS[limit] });
  }
});
