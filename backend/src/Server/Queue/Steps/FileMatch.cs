using Sluice.Server.Library;

namespace Sluice.Server.Queue.Steps;

/// <summary>
/// Matches the files of a release to a new map of its NZB by validator. Files with an old server's validator are matched by length, then by name. Pure.
/// </summary>
internal static class FileMatch
{
    /// <summary>Returns the new content of each file with an unambiguous match.</summary>
    public static IReadOnlyDictionary<Guid, FileContent> Find(IReadOnlyList<LibraryFile> files, IReadOnlyList<PlannedFile> planned)
    {
        var found = new Dictionary<Guid, FileContent>();
        var free = planned.ToList();
        foreach (var file in files)
        {
            if (planned.FirstOrDefault(plan => plan.ETag == file.ETag && plan.Length == file.Length) is { } same)
            {
                found.Add(file.Id, same.Content);
                free.Remove(same);
            }
        }

        Take((file, plan) => SamePath(file.Path, plan.Names.Inner));
        Take((file, plan) => NamesOf(plan).Any(name => SamePath(file.Name, name)));
        Take((_, _) => true);
        return found;

        // Never guess between files of equal length.
        void Take(Func<LibraryFile, PlannedFile, bool> isLike)
        {
            var open = files.Where(file => !found.ContainsKey(file.Id)).ToList();
            foreach (var file in open)
            {
                if (Only(free, plan => plan.Length == file.Length && isLike(file, plan)) is { } plan
                    && Only(open, other => other.Length == file.Length && isLike(other, plan)) is not null)
                {
                    found.Add(file.Id, plan.Content);
                    free.Remove(plan);
                }
            }
        }
    }

    /// <summary>Explains, as part of a sentence, why a file has no match.</summary>
    public static string Explain(LibraryFile lost, IReadOnlyList<PlannedFile> planned) => planned.Any(plan => plan.Length == lost.Length)
        ? $"its files of {lost.Length} bytes cannot be told apart"
        : $"the NZB holds no file of {lost.Length} bytes";

    private static T? Only<T>(IEnumerable<T> items, Func<T, bool> isWanted)
        where T : class => items.Where(isWanted).Take(2).ToList() is [var only] ? only : null;

    private static IEnumerable<string?> NamesOf(PlannedFile plan) => [NameOf(plan.Names.Inner), plan.Names.Par2, plan.Names.Subject, plan.Names.Yenc];

    private static string? NameOf(string? path) => path?[(path.LastIndexOfAny(['/', '\\']) + 1)..];

    private static bool SamePath(string path, string? other) => string.Equals(path, other?.Replace('\\', '/'), StringComparison.OrdinalIgnoreCase);
}
