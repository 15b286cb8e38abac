using System.IO.Compression;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Settings;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Queue.Intake;

/// <summary>
/// Receives an upload. Decompresses gzip, bzip2 and zip, detected by content (IMP-10). Stores each NZB as a durable blob and measures it. The import
/// decides whether it is valid.
/// </summary>
internal sealed class UploadReceiver(BlobStore blobs, StoredNzbs stored, ProcessOptions process, TimeProvider time)
{
    /// <summary>Maximum time for an upload with decompression (S15), enough for the largest one at 700 kbit/s.</summary>
    public static readonly TimeSpan MaxTime = TimeSpan.FromHours(1);

    private const int Signature = 4;

    /// <summary>Reads an upload to its end. Stores nothing if canceled.</summary>
    /// <param name="body">The upload. It need not be seekable and stays open.</param>
    /// <param name="length">Length in bytes; null if unknown.</param>
    /// <exception cref="UploadBrokenException">The body ends early.</exception>
    public async Task<NzbUpload> ReceiveAsync(Stream body, long? length, bool keepsPacked, CancellationToken cancellationToken)
    {
        var lease = stored.BeginUpload();
        using var deadline = new CancellationTokenSource(MaxTime, time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
        try
        {
            if (length > process.MaxRequestBodySize)
                return NzbUpload.Refused(AddRefusal.TooLarge, lease);

            blobs.RequireSpace(length ?? 0);
            await using var upload = new UploadStream(body);
            return await ReceiveAsync(upload, keepsPacked, lease, cancel.Token);
        }
        catch (StorageException e) when (e.Fault == StorageFault.Full)
        {
            return NzbUpload.Refused(AddRefusal.DiskFull, lease);
        }
        catch (BlobTooLargeException)
        {
            return NzbUpload.Refused(AddRefusal.TooLarge, lease);
        }
        catch (OperationCanceledException) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            return NzbUpload.Refused(AddRefusal.TooSlow, lease);
        }
        catch
        {
            await lease.DisposeAsync();
            throw;
        }
    }

    private async Task<NzbUpload> ReceiveAsync(
        UploadStream upload, bool keepsPacked, StoredNzbs.UploadLease lease, CancellationToken cancellationToken)
    {
        var start = await upload.PeekAsync(Signature, cancellationToken);
        var isGzip = start.Span.StartsWith((ReadOnlySpan<byte>)[0x1F, 0x8B]);
        var isZip = start.Span.StartsWith("PK\u0003\u0004"u8) || start.Span.StartsWith("PK\u0005\u0006"u8);
        if (!isGzip && !isZip && !start.Span.StartsWith("BZh"u8))
            return new NzbUpload([await SaveAsync(upload, null, lease, cancellationToken)], null, lease);

        // Store the upload first: zip is read from its end, the bzip2 reader blocks, and the limit depends on the length.
        var raw = keepsPacked ? await blobs.SaveRawAsync(upload, lease.PinAsync, cancellationToken) : null;
        await using var file = raw is null ? await SpoolAsync(upload, cancellationToken) : blobs.OpenRaw(raw.Hash);
        var budget = new UnpackBudget(file.Length);
        if (isZip)
            return new NzbUpload(await ReadZipAsync(file, budget, lease, cancellationToken), null, lease) { Raw = raw };

        Stream decoder = isGzip ? new GZipStream(file, CompressionMode.Decompress, leaveOpen: true) : new Bzip2Reader(file);
        await using var text = new UnpackedStream(decoder, isGzip ? "gzip" : "bzip2", () => file.Position, budget);
        return new NzbUpload([await SaveAsync(text, null, lease, cancellationToken)], null, lease) { Raw = raw };
    }

    private async Task<IReadOnlyList<UploadedNzb>> ReadZipAsync(
        Stream file,
        UnpackBudget budget,
        StoredNzbs.UploadLease lease,
        CancellationToken cancellationToken)
    {
        if (ZipGuard.Refuse(file) is { } refusal)
            return [new UploadedNzb(null, null, refusal)];

        try
        {
            await using var zip = await ZipArchive.CreateAsync(file, ZipArchiveMode.Read, leaveOpen: true, entryNameEncoding: null, cancellationToken);
            var files = zip.Entries.Where(entry => entry.Name.Length > 0).ToList();
            var named = files.Where(entry => entry.Name.EndsWith(".nzb", StringComparison.OrdinalIgnoreCase)).ToList();
            var members = named.Count > 0 ? named : files;
            if (members.Count == 0)
                return [new UploadedNzb(null, null, ImportFailure.NotAnNzb("a zip without files"))];
            if (members.Count > ZipGuard.MaxMembers)
                return [new UploadedNzb(null, null, ImportFailure.NzbTooLarge($"more than {ZipGuard.MaxMembers} files in a zip"))];

            var nzbs = new List<UploadedNzb>(members.Count);
            foreach (var member in members)
            {
                nzbs.Add(await SaveMemberAsync(member, budget, lease, cancellationToken));

                // Zip entries can share bytes while each stays below the limits, so check the sum. If the sum is too large, the whole upload fails.
                if (budget.IsSpent)
                    return [new UploadedNzb(null, null, ImportFailure.NzbTooLarge(budget.Excess))];
            }

            return nzbs;
        }
        catch (InvalidDataException)
        {
            return [new UploadedNzb(null, null, ImportFailure.NotAnNzb("damaged zip"))];
        }
    }

    private async Task<UploadedNzb> SaveMemberAsync(
        ZipArchiveEntry member,
        UnpackBudget budget,
        StoredNzbs.UploadLease lease,
        CancellationToken cancellationToken)
    {
        try
        {
            var packed = member.CompressedLength;
            await using var text = new UnpackedStream(await member.OpenAsync(cancellationToken), "zip", () => packed, budget);
            return await SaveAsync(text, member.Name, lease, cancellationToken);
        }
        catch (InvalidDataException)
        {
            // An unknown compression method, or a local header that is not where the directory says.
            return new UploadedNzb(null, member.Name, ImportFailure.NotAnNzb("damaged zip"));
        }
        catch (BlobTooLargeException e)
        {
            return new UploadedNzb(null, member.Name, ImportFailure.NzbTooLarge($"more than {e.Limit >> 20} MiB"));
        }
    }

    private async Task<UploadedNzb> SaveAsync(
        Stream plain,
        string? memberName,
        StoredNzbs.UploadLease lease,
        CancellationToken cancellationToken)
    {
        try
        {
            PostMeasure? measure = null;
            var blob = await blobs.SaveNzbAsync(
                plain,
                async (passing, token) => measure = await PostMeasure.OfAsync(NzbReader.ReadAsync(passing, limits: null, new NzbHead(), blobs.CreateTemporary, token)),
                lease.PinAsync,
                cancellationToken);
            return new UploadedNzb(blob, memberName, null) { Measure = measure };
        }
        catch (NzbFormatException e)
        {
            var failure = e.Fault == NzbFault.TooLarge ? ImportFailure.NzbTooLarge(e.Detail) : ImportFailure.NotAnNzb(e.Detail);
            return new UploadedNzb(null, memberName, failure);
        }
    }

    private async Task<Stream> SpoolAsync(UploadStream upload, CancellationToken cancellationToken)
    {
        // Create it next to the blobs, because temporary files there are deleted at startup after a kill.
        var file = blobs.CreateTemporary();
        try
        {
            await upload.CopyToAsync(file, cancellationToken);
            file.Position = 0;
            return file;
        }
        catch
        {
            await file.DisposeAsync();
            throw;
        }
    }
}
