import type { Change } from '../../api/types.ts';
import { UntrustedText } from '../../ui/value/untrustedText.tsx';
import { differencesOf } from './texts.ts';

export const Differences = ({ change }: { readonly change: Change }) => (
  <ul class="differences">
    {differencesOf(change).map(({ name, before, after }) => (
      <li key={name}>
        <span class="quiet">{name}</span> <UntrustedText as="del" text={before ?? ''} />{' '}
        <UntrustedText as="ins" text={after ?? ''} />
      </li>
    ))}
  </ul>
);
