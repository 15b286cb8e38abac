using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Server.Queue;

/// <summary>
/// Records releases whose files a client has deleted without importing any (SAB-47). Imports that moved a link are already recorded. An import that moved a
/// <c>.strm</c> file shows because the file is missing from the folder.
/// </summary>
internal sealed class Rejections(SluiceDatabase database, HistoryStore history, LibraryStore library)
{
    // Small, so that adds can run between the transactions.
    private const int PerTransaction = 200;

    /// <param name="numbers">Row numbers of the deleted history items.</param>
    public async Task ReportAsync(IReadOnlyList<long> numbers, CancellationToken cancellationToken)
    {
        foreach (var chunk in numbers.Chunk(PerTransaction))
        {
            var untouched = new List<long>();
            foreach (var item in await history.FindCompletedAsync(chunk, cancellationToken))
            {
                if (item.StrmRoot is not { Length: > 0 } root || await AreThereAsync(item, root, cancellationToken))
                    untouched.Add(item.Number);
            }

            if (untouched.Count > 0)
                await database.WriteAsync(connection => ReleaseClaims.Reject(connection, untouched), cancellationToken);
        }
    }

    /// <summary>Whether the item's folder still contains a <c>.strm</c> file for each film.</summary>
    private async Task<bool> AreThereAsync(HistoryItem item, string root, CancellationToken cancellationToken)
    {
        var (files, _) = await library.ListFirstAsync(item.ReleaseId!.Value, int.MaxValue, cancellationToken);
        var films = files.Count(file => NameJudge.CategoryOf(file.Path, MediaKind.Unknown) is MediaCategory.Video or MediaCategory.Audio);
        try
        {
            var folder = Path.Combine(root, item.Folder, item.ReleaseFolder);
            return Directory.EnumerateFiles(folder, "*" + CompleteFolder.StrmExtension, SearchOption.AllDirectories).Count() >= films;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The folder is missing or unreadable, so the files may have moved to a library.
            return false;
        }
    }
}
