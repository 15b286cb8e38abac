using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue.Steps;

/// <summary>Reads the stored NZB, packs its message-ids into the release's list, and separates PAR2 files from the payload.</summary>
internal sealed class ReadNzb(StoredNzbReader nzbs, BlobStore blobs, QueueStore queue, ShownFiles shown) : IImportStep
{
    // How many files make half of the step's progress; their number is unknown until the end.
    private const double HalfWay = 100;

    /// <inheritdoc/>
    public string Name => nameof(ReadNzb);

    /// <inheritdoc/>
    public int Weight => 5;

    /// <inheritdoc/>
    public async Task<ImportFailure?> RunAsync(ImportWork work, StepProgress progress, CancellationToken cancellationToken)
    {
        if (work.Read is not { } read || read.NzbHash != work.Item.NzbHash || read.HasPar2 != shown.HavePar2)
        {
            var (post, failure) = await ReadAsync(work.Item.NzbHash, progress, cancellationToken);
            if (post is null)
                return failure;
            read = post;
            await queue.SetPostAsync(work.Item.Id, read.EncodedBytes, read.PostedAt, cancellationToken);
        }

        work.Read = read;
        work.Item = work.Item with { EncodedBytes = read.EncodedBytes, PostedAt = read.PostedAt };
        work.Payload = read.Payload;
        progress.Findings = read.Findings;
        List<PostedEntry> payload = [.. read.Payload.Where(file => !ShownFiles.IsPar2(file.SubjectName))];
        return payload.Count == 0 ? ImportFailure.NoMedia() : ArchivePayload.RefuseByName(payload);
    }

    private async Task<(ReadPost? Post, ImportFailure? Failure)> ReadAsync(string nzbHash, StepProgress progress, CancellationToken cancellationToken)
    {
        var files = new List<PostedEntry>();
        var dates = new List<long>();
        try
        {
            await blobs.SaveIdsAsync(
                nzbHash,
                async (list, token) =>
                {
                    var writer = new MessageIdListWriter(list);
                    await foreach (var file in nzbs.ReadAsync(nzbHash, new NzbHead(), token))
                    {
                        files.Add(await PostedEntry.ReadAsync(files.Count, file, writer, token));
                        if (file.Date is { } date)
                            dates.Add(date.ToUnixTimeSeconds());
                        progress.Report(files.Count / (files.Count + HalfWay));
                    }

                    await writer.CompleteAsync(token);
                },
                cancellationToken);
        }
        catch (NzbFormatException e)
        {
            return (null, e.Fault switch
            {
                NzbFault.Empty => ImportFailure.NzbEmpty(),
                NzbFault.TooLarge => ImportFailure.NzbTooLarge(e.Detail),
                _ => ImportFailure.NotAnNzb(e.Detail),
            });
        }

        var hasPar2 = shown.HavePar2;
        return (new ReadPost(
            nzbHash,
            hasPar2,
            hasPar2 ? files : [.. files.Where(file => !ShownFiles.IsPar2(file.SubjectName))],
            files.Sum(file => file.EncodedBytes),
            dates.Count == 0 ? null : DateTimeOffset.FromUnixTimeSeconds((long)dates.Average()),
            new StepFindings(("files", files.Count), ("segments", files.Sum(file => (long)file.Segments)))), null);
    }
}
