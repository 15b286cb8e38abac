using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nzb;

namespace Sluice.Server.Library;

/// <summary>
/// Strong validators made from a file's message-ids, archive entry and length (DAV-60). They exclude offsets, so that correcting a map does not change the
/// validator. They are the same across restarts, paths and nodes.
/// </summary>
internal static class ContentTag
{
    // 128 bits of a SHA-256 fit in a header and practically never collide.
    private const int TagBytes = 16;

    /// <summary>Returns the <see cref="IdsHash"/> of a posted file's segments, in order.</summary>
    public static byte[] HashIds(IEnumerable<SegmentIds> segments)
    {
        using var hash = new IdsHash();
        foreach (var segment in segments)
            hash.Append(segment);
        return hash.Finish();
    }

    /// <summary>Returns the validator of a file.</summary>
    /// <param name="postedFiles">Id hashes of the file's posted files, in order.</param>
    /// <param name="entry">Path of the archive entry; empty for a file posted without an archive.</param>
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

/// <summary>Hashes the message-ids of a posted file for the validators of its library files.</summary>
internal sealed class IdsHash : IDisposable
{
    private static readonly Comparison<MessageId> ByBytes = (left, right) => left.Bytes.SequenceCompareTo(right.Bytes);

    private readonly IncrementalHash _hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
    private readonly List<MessageId> _ids = [];

    public void Append(SegmentIds segment)
    {
        // Sort the copies of a segment, because their order in the NZB is arbitrary.
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

    /// <summary>Returns the hash of all appended segments.</summary>
    public byte[] Finish() => _hash.GetHashAndReset();

    public void Dispose() => _hash.Dispose();
}
