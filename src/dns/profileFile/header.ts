import Type from 'typebox';
import type { Learned } from '../detector/index.ts';

/** Header of a profile file; the names follow it. */
export interface ProfileHeader {
  readonly madeOn: string;
  readonly names: number;
  readonly learned: Learned;
}

/** Maximum number of names that the configuration allows. */
const MAX_NAMES = 100_000_000;
/** Maximum number of minutes with a rate: ninety days. */
const MAX_RATES = 90 * 24 * 60 + 1;
/** Maximum number of zones, including the one for names outside all zones. */
const MAX_ZONES = 4097;
/** Maximum length of a name in text form: up to four characters per byte, 255 bytes. */
const MAX_NAME_LENGTH = 1024;
/** 65,536 client networks of eight bytes each, in base64. */
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
    unknownBusyPerSecond: Type.Optional(number),
    generation: Type.Optional(Type.Integer({ minimum: 0, maximum: 7 })),
    deniesByNoData: Type.Optional(Type.Boolean()),
    nxdomains: Type.Optional(number),
    noDatas: Type.Optional(number),
    positives: Type.Optional(number),
    busiestUnknownPerSecond: Type.Optional(number),
    busiestLearnedPerSecond: Type.Optional(number),
    unknownHours: Type.Optional(
      Type.Object(
        { isMostlyUnknown: Type.Boolean(), hours: Type.Integer({ minimum: 0, maximum: 24 }) },
        closed,
      ),
    ),
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

export const ProfileHeaderSchema = Type.Object(
  {
    madeOn: Type.String({ maxLength: 40 }),
    names: Type.Integer({ minimum: 0, maximum: MAX_NAMES }),
    learned: Type.Object(
      {
        hashKey: Type.Object({ high: word, low: word }, closed),
        savedMs: number,
        rates: Type.Array(
          // Negative values are rates under attack.
          Type.Tuple([
            number,
            Type.Number({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
          ]),
          { maxItems: MAX_RATES },
        ),
        servedPerSecond: Type.Optional(number),
        zones: Type.Array(zone, { maxItems: MAX_ZONES }),
        clients: Type.Optional(clients),
      },
      closed,
    ),
  },
  closed,
);
