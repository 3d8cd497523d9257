interface FiguresProps {
  readonly rows: readonly (readonly [name: string, value: string, note: string])[];
}

/** List of numbers with their meaning. */
export const Figures = ({ rows }: FiguresProps) => (
  <dl class="figures">
    {rows.map(([name, value, note]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>
          <strong>{value}</strong>
          <span class="quiet">{note}</span>
        </dd>
      </div>
    ))}
  </dl>
);
