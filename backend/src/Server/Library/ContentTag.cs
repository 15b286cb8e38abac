using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>
/// Strong validators over what a file consists of: message-ids, entry identity and length (DAV-60). Offsets are no part of
/// it, so a corrected map keeps the validator, and so does every restart, path and node.
/// </summary>
internal static class ContentTag
{
    // 128 bits of a SHA-256: short in a header, and still no two files of one tag.
    private const int TagBytes = 16;

    /// <summary>The <see cref="IdsHash"/> of a posted file.</summary>
    /// <param name="segments">The ids of its segments in order.</param>
    public static byte[] HashIds(IEnumerable<SegmentIds> segments)
    {
        using var hash = new IdsHash();
        foreach (var segment in segments)
            hash.Append(segment);
        return hash.Finish();
    }

    /// <summary>The tag of a file.</summary>
    /// <param name="postedFiles">Id hashes of the posted files that it is made of, in order.</param>
    /// <param name="entry">Path of the archive entry; empty for a file that was posted as it is.</param>
    /// <param name="length">Length in bytes.</param>
    public static string Of(IEnumerable<byte[]> postedFiles, string entry, long length)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (var ids in postedFiles)
            hash.AppendData(ids);

        hash.AppendData(Encoding.UTF8.GetBytes(entry));
        Span<byte> size = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(size, length);
        hash.AppendData(size);
        return Convert.ToHexStringLower(hash.GetHashAndReset().AsSpan(0, TagBytes));
    }
}

/// <summary>The hash over the message-ids of a posted file, a part of every tag that the file has a share in.</summary>
internal sealed class IdsHash : IDisposable
{
    private static readonly Comparison<MessageId> ByBytes = (left, right) => left.Bytes.SequenceCompareTo(right.Bytes);

    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly List<MessageId> _ids = [];

    /// <summary>Takes the ids of the next segment.</summary>
    public void Append(SegmentIds segment)
    {
        // Which of several copies comes first is chance, and says nothing about the content.
        _ids.Clear();
        if (!segment.Primary.IsEmpty)
            _ids.Add(segment.Primary);
        _ids.AddRange(segment.Fallbacks);
        _ids.Sort(ByBytes);
        foreach (var id in _ids)
        {
            _hash.AppendData(id.Bytes);
            _hash.AppendData(" "u8);
        }

        _hash.AppendData("\n"u8);
    }

    /// <summary>The hash of all segments that were taken.</summary>
    public byte[] Finish() => _hash.GetHashAndReset();

    /// <inheritdoc/>
    public void Dispose() => _hash.Dispose();
}
