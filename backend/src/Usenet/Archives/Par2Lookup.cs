using Sluice.Usenet.Media;
using Sluice.Usenet.Nntp;
using Sluice.Usenet.Par2;
using Sluice.Usenet.Probing;
using Sluice.Usenet.Streams;
using Sluice.Usenet.Streams.Proof;
using Sluice.Usenet.Streams.Reading;

namespace Sluice.Usenet.Archives;

/// <summary>The claims of a PAR2 index about one posted file.</summary>
/// <param name="Name">The original name; null if unknown to the index.</param>
/// <param name="Length">The length in bytes; null if unknown to the index.</param>
public readonly record struct Par2Claim(string? Name, long? Length);

/// <summary>Reads the PAR2 indexes of a release and matches them to its files (IMP-20, IMP-40). Thread-safe; fetches in lane Import.</summary>
/// <param name="engine">Reads the indexes; not owned.</param>
public sealed class Par2Lookup(StreamEngine engine)
{
    /// <summary>Reads one index of each PAR2 set. An unreadable index is skipped, because it only provides names and lengths.</summary>
    /// <exception cref="NntpException">No provider gave a final answer.</exception>
    public async Task<IReadOnlyList<Par2Index>> ReadAsync(IReadOnlyList<FileHead> heads, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(heads);
        List<FileHead> files = [.. heads.Where(head => head is { Kind: MediaKind.Par2, State: HeadState.Found, Map: not null })];
        var indexes = Par2Name.Indexes([.. files.Select(file => new PostedPar2(file.Subject.FileName, Par2Reader.SetIdOf(file.FirstBytes.Span), file.Map!.Length))]);
        var read = await Task.WhenAll(indexes.Select(index => TryReadAsync(files[index].ToPostedFile()!, cancellationToken)));
        return [.. read.OfType<Par2Index>()];
    }

    /// <summary>Matches indexes to files: probed files by the hash of their first bytes, skipped files by name.</summary>
    /// <returns>One claim for each head; empty if there is no index.</returns>
    public static IReadOnlyList<Par2Claim> Match(IReadOnlyList<FileHead> heads, IReadOnlyList<Par2Index> indexes)
    {
        ArgumentNullException.ThrowIfNull(heads);
        ArgumentNullException.ThrowIfNull(indexes);
        if (indexes.Count == 0)
            return [];

        var byHead = new Par2Matcher(indexes);
        var byName = indexes.SelectMany(index => index.Files).ToLookup(file => file.Name, StringComparer.OrdinalIgnoreCase);
        return [.. heads.Select(Find)];

        Par2Claim Find(FileHead head)
        {
            var file = head.State == HeadState.Found
                ? byHead.Find(head.HeadMd5, head.Map?.Length ?? 0)
                : byName[head.Subject.FileName ?? ""].Take(2).ToList() is [var only] ? only : null;
            return file is null ? default : new Par2Claim(file.Name, file.Length);
        }
    }

    private async Task<Par2Index?> TryReadAsync(PostedFile file, CancellationToken cancellationToken)
    {
        await using var stream = engine.Open([FileExtent.Whole(file)], OperationLane.Import);
        var reader = new Par2IndexReader(file.Map.Length, async (offset, buffer, token) =>
        {
            stream.Position = offset;
            await stream.ReadExactlyAsync(buffer, token);
        });
        try
        {
            return await reader.ReadAsync(cancellationToken);
        }
        catch (IOException damage) when (damage is ArticleGoneException or WithdrawnBytesException)
        {
            return reader.Index;
        }
    }
}
