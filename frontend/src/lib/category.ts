// The folder of releases without a category.
const folderOfNone = "uncategorized";

/** Returns the folder name of a category. Download clients send `*` if none was chosen. */
export function categoryName(category: string): string {
  return category === "*" || category === "" ? folderOfNone : category;
}
