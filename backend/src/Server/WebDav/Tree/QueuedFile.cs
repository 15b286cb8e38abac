using System.Buffers;
using Sluice.Server.Library;
using Sluice.Server.Queue;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A queue file whose content is exactly the uploaded bytes.</summary>
internal sealed class QueuedFile(QueueFile file, StoredNzbReader nzbs, QueueProperties properties) : IStoreFile
{
    /// <summary>Hex digits of the content hash used in the entity tag: 128 bits.</summary>
    private const int TagLength = 32;

    private const int SkipBuffer = 64 * 1024;

    public string Name => file.Name;

    public DateTimeOffset Created => file.AddedAt;

    public DateTimeOffset LastModified => file.AddedAt;

    public bool IsReadOnly => false;

    public IPropertyManager Properties { get; } = properties.Of(file);

    public long Length => file.Length;

    public EntityTag ETag => new(file.Hash[..TagLength]);

    public string ContentType => ContentTypes.ForName(Name);

    public async ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken) =>
        file.Packed ? nzbs.OpenRaw(file.Hash, offset) : await OpenPlainAsync(offset, cancellationToken);

    public ContentUnavailableException? Explain(Exception failure) =>
        failure is StoredNzbLostException or InvalidDataException
            ? new ContentUnavailableException(ContentFault.Gone, "The stored file is lost or damaged.", failure)
            : null;

    private async Task<Stream> OpenPlainAsync(long offset, CancellationToken cancellationToken)
    {
        var plain = nzbs.Open(file.Hash);
        try
        {
            await SkipAsync(plain, offset, cancellationToken);
            return plain;
        }
        catch
        {
            await plain.DisposeAsync();
            throw;
        }
    }

    /// <summary>Reads and discards bytes up to an offset, because the stored file is compressed and not seekable.</summary>
    private static async Task SkipAsync(Stream plain, long offset, CancellationToken cancellationToken)
    {
        var buffer = ArrayPool<byte>.Shared.Rent(SkipBuffer);
        try
        {
            while (offset > 0)
            {
                var read = await plain.ReadAsync(buffer.AsMemory(0, (int)Math.Min(offset, buffer.Length)), cancellationToken);
                if (read == 0)
                    throw new InvalidDataException("The stored NZB is shorter than its length.");
                offset -= read;
            }
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }
}
