import { UntrustedText } from '../../../ui/value/untrustedText.tsx';
import { formatQuantity } from '../frames/ether.ts';
import { AddressLink } from '../parts.tsx';
import type { Argument, Decoded } from './decoder.ts';
import { NameText } from './nameText.tsx';

interface DecodedDataProps {
  readonly title: string;
  /** All candidates. Several have the same selector. */
  readonly candidates: readonly Decoded[];
}

export function DecodedData({ title, candidates }: DecodedDataProps) {
  if (candidates.length === 0) return null;
  return (
    <div class="decoded">
      {candidates.map(({ signature, isVerified, args }) => (
        <div key={signature}>
          <p class="signature">
            <span class="quiet">{title}</span>{' '}
            <code>
              <NameText name={{ text: signature, isUnverified: !isVerified }} />
            </code>
          </p>
          {args === undefined ? (
            <p class="quiet">The data does not fit this signature.</p>
          ) : (
            <Arguments args={args} />
          )}
        </div>
      ))}
      {candidates.length > 1 && (
        <p class="look">
          ▲ {candidates.length} known functions have this selector; the contract has one of them.
        </p>
      )}
    </div>
  );
}

interface ArgumentsProps {
  readonly args: readonly Argument[];
  readonly left?: number;
}

function Arguments({ args, left = 0 }: ArgumentsProps) {
  if (args.length === 0) return null;
  return (
    <ul class="arguments">
      {args.map(({ name, type, value, parts, left: more }, i) => (
        <li key={i}>
          {name !== '' && <UntrustedText text={name} />} <span class="quiet">{type}</span>{' '}
          {type === 'address' ? (
            <AddressLink address={value.toLowerCase()} />
          ) : (
            value !== '' && <UntrustedText as="code" text={value} />
          )}
          <Arguments args={parts} left={more} />
        </li>
      ))}
      {left > 0 && <li class="quiet">… {formatQuantity(left)} more</li>}
    </ul>
  );
}
