import { Copy } from '../copy.tsx';

const SHOWN_CHARACTERS = 6;

interface AddressProps {
  readonly value: string;
  readonly label?: string | undefined;
  readonly copies?: boolean;
}

/** Shows an address or hash, shortened in the middle. On focus it is complete; the copy button copies all of it. */
export function Address({ value, label, copies = true }: AddressProps) {
  const isHex = /^0x[0-9a-fA-F]{16,64}$/.test(value);
  const short = label ?? (isHex ? `${value.slice(0, SHOWN_CHARACTERS)}…${value.slice(-4)}` : value);
  return (
    <span class="address">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the whole address is shown on focus */}
      <code tabIndex={0} title={value}>
        <span class="short">{short}</span>
        <span class="whole">{value}</span>
      </code>
      {copies && <Copy text={value} />}
    </span>
  );
}
