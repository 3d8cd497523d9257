/** The anchor of a heading, as forges make it. */
export const slugify = (title) =>
  title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
