import Type from 'typebox';
import type { Learned } from '../detector/index.ts';

/** What stands before the names. */
export interface ProfileHead {
  readonly madeOn: string;
  readonly names: number;
  readonly learned: Learned;
}

/** As many names as can be configured. */
const MAX_NAMES = 100_000_000;
/** Minutes of ninety days. */
const MAX_RATES = 90 * 24 * 60 + 1;
/** With the one for what lies outside every zone. */
const MAX_ZONES = 4097;
/** As the guard writes names: up to four characters for each byte of 255. */
const MAX_NAME_LENGTH = 1024;
/** 65,536 networks of clients, of eight bytes each, as base64. */
const MAX_PLACES_LENGTH = 699_052;

const number = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const share = Type.Number({ minimum: 0, maximum: 1 });
const word = Type.Integer({ minimum: 0, maximum: 0xffffffff });
const name = Type.String({ maxLength: MAX_NAME_LENGTH });
const closed = { additionalProperties: false };

const zone = Type.Object(
  {
    name,
    unknownShare: share,
    nxdomainShare: share,
    unknownPerSecond: number,
    ratePerSecond: number,
    learnedSeconds: number,
    positiveAnswers: number,
    onceOnlyAnswers: number,
    seeded: Type.Optional(Type.Boolean()),
    attacked: Type.Optional(Type.Boolean()),
    boundlessBy: Type.Optional(name),
    unknownPeakPerSecond: Type.Optional(number),
    generation: Type.Optional(Type.Integer({ minimum: 0, maximum: 7 })),
    deniesByNoData: Type.Optional(Type.Boolean()),
    nxdomains: Type.Optional(number),
    noDatas: Type.Optional(number),
    days: Type.Optional(Type.Tuple([word, word])),
  },
  closed,
);

const clients = Type.Object(
  {
    sinceMinute: word,
    savedMinute: word,
    places: Type.String({ maxLength: MAX_PLACES_LENGTH, pattern: '^[A-Za-z0-9+/]*={0,2}$' }),
  },
  closed,
);

/** Names are noted in form 2 only: what is older is saved anew by the next start of the server. */
export const ProfileHeadSchema = Type.Object(
  {
    madeOn: Type.String({ maxLength: 40 }),
    names: Type.Integer({ minimum: 0, maximum: MAX_NAMES }),
    learned: Type.Object(
      {
        hashKey: Type.Object({ high: word, low: word }, closed),
        savedMs: number,
        form: Type.Literal(2),
        rates: Type.Array(
          // Below zero is a rate under attack.
          Type.Tuple([
            number,
            Type.Number({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
          ]),
          { maxItems: MAX_RATES },
        ),
        zones: Type.Array(zone, { maxItems: MAX_ZONES }),
        clients: Type.Optional(clients),
      },
      closed,
    ),
  },
  closed,
);
