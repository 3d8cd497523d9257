import { Copy } from '../copy.tsx';

const SHOWN_CHARACTERS = 6;
const CELLS = 6;

/** Shows an address or hash, shortened in the middle. On focus it is complete; the copy button copies all of it. */
export function Address({
  value,
  label,
  copies = true,
}: {
  readonly value: string;
  /** Name that replaces the address until it has the focus. */
  readonly label?: string | undefined;
  readonly copies?: boolean;
}) {
  const isHex = /^0x[0-9a-fA-F]{16,64}$/.test(value);
  const short = label ?? (isHex ? `${value.slice(0, SHOWN_CHARACTERS)}…${value.slice(-4)}` : value);
  return (
    <span class="address">
      {isHex && <Mark hex={value.slice(2).toLowerCase()} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the whole address is shown on focus */}
      <code tabIndex={0} title={value}>
        <span class="short">{short}</span>
        <span class="whole">{value}</span>
      </code>
      {copies && <Copy text={value} />}
    </span>
  );
}

/** Image of six bars by which users recognise an address or hash. Its first digits set the heights and the colour. */
function Mark({ hex }: { readonly hex: string }) {
  const hue = Number.parseInt(hex.slice(CELLS, CELLS + 2), 16) % 12;
  return (
    <svg class={`mark hue-${hue}`} viewBox="0 0 12 16" aria-hidden="true">
      {[...hex.slice(0, CELLS)].map((digit, i) => {
        const height = Number.parseInt(digit, 16) + 1;
        return <rect key={i} x={i * 2} y={16 - height} width="1.5" height={height} />;
      })}
    </svg>
  );
}
