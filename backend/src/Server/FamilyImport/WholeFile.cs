using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.FamilyImport;

/// <summary>A posted file as the old server describes it: message-ids in order, length in bytes, and segment lengths if known.</summary>
internal sealed record OldPost(IReadOnlyList<string> Ids, long Length, IReadOnlyList<long>? Segments)
{
    /// <summary>The map of segment positions, as stored or estimated. The count includes segments that were never posted.</summary>
    public SegmentMap? MapOf(int count, long? partSize) =>
        Segments is { } lengths && lengths.Count == count && lengths.All(length => length is >= 0 and <= SegmentMap.MaxSegmentLength) && lengths.Sum() == Length
            ? SegmentMap.FromLengths(lengths)
            : PartSizes.Estimate(count, Length, partSize);
}

/// <summary>An importable file of the old server.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Names">Folders inside the release and the file name.</param>
/// <param name="Length">Exact length in bytes.</param>
/// <param name="Stretches">The ranges of posts that hold its bytes.</param>
/// <param name="Cipher">Decryption of these bytes; null for none.</param>
internal sealed record WholeFile(Guid Id, IReadOnlyList<string> Names, long Length, IReadOnlyList<(OldPost Post, long Offset, long Length)> Stretches, StreamCipher? Cipher)
{
    /// <summary>Whether the file is exactly one whole post.</summary>
    public bool IsPlain => Cipher is null && Stretches is [var only] && only.Offset == 0 && only.Length == only.Post.Length;
}

/// <summary>
/// Importable files of one release. Files share posts. Contradictory files are refused: lengths must add up, and each range must lie inside its
/// post. Not thread-safe.
/// </summary>
internal sealed class WholeFiles
{
    // Per release, because an NZB cannot list more.
    private const int MaxIds = SegmentMap.MaxCount;

    private readonly Dictionary<UInt128, OldPost> _posts = [];
    private readonly List<WholeFile> _files = [];
    private int _ids;

    public IReadOnlyList<WholeFile> Files => _files;

    /// <summary>Their posts, in order of first use.</summary>
    public IReadOnlyList<OldPost> Posts => [.. _files.SelectMany(file => file.Stretches).Select(stretch => stretch.Post).Distinct()];

    /// <summary>Adds a file by its description.</summary>
    /// <exception cref="FamilyFormatException">The file cannot be imported and is not added.</exception>
    public void Add(FamilyFile file, FamilyContent content)
    {
        if (content.IsUnfinished)
            throw new FamilyFormatException("the old server had not looked into all of its volumes yet; add its NZB again");
        var parts = content.Parts.Where(part => part.Length != 0).ToList();
        if (parts.Count == 0)
            throw new FamilyFormatException("the old database lists no parts of it");
        var length = file.Item.Length!.Value;
        long sum = 0;
        foreach (var part in parts)
        {
            if (part.Length < 0 || part.Offset < 0 || part.PostedLength <= 0 || part.Length > part.PostedLength - part.Offset)
                throw new FamilyFormatException("a part of it lies outside of its posted file");
            sum = checked(sum + part.Length);
        }

        var cipher = content.Cipher is { } aes ? CipherOf(aes) : null;
        if (cipher is null ? sum != length : sum < length || sum - length >= StreamCipher.BlockLength)
            throw new FamilyFormatException($"its parts have {sum} bytes, and it {length}");
        var posts = parts.ConvertAll(part => Describe(part));
        for (var i = 0; i < posts.Count; i++)
        {
            if (_posts.TryAdd(posts[i].Key, posts[i].Post))
                _ids += posts[i].Post.Ids.Count;
        }

        if (_ids > MaxIds)
            throw new FamilyFormatException("its release has more articles than one may have");
        _files.Add(new WholeFile(file.Item.Id, file.Names, length, [.. parts.Select((part, i) => (_posts[posts[i].Key], part.Offset, part.Length))], cipher));
    }

    private (UInt128 Key, OldPost Post) Describe(FamilyPart part)
    {
        if (part.Ids.Count == 0)
            throw new FamilyFormatException("the old database lists no articles of it");
        foreach (var id in part.Ids)
        {
            // A lone surrogate cannot be written to an NZB.
            if (!MessageId.TryParse(id, out _) || id.Any(char.IsSurrogate))
                throw new FamilyFormatException("one of its message-ids is none");
        }

        var key = KeyOf(part.Ids);
        if (_posts.TryGetValue(key, out var known) && known.Length != part.PostedLength)
            throw new FamilyFormatException("another file says otherwise how long its posted file is");
        var post = known ?? new OldPost(part.Ids, part.PostedLength, part.Segments);
        if (post.MapOf(post.Ids.Count, null) is null)
            throw new FamilyFormatException($"{post.Ids.Count} articles cannot have {post.Length} bytes");
        return (key, post);
    }

    private static StreamCipher CipherOf(FamilyCipher aes) => aes.Key.Length is 16 or 32 && aes.Vector.Length == StreamCipher.BlockLength
        ? new StreamCipher(aes.Key, aes.Vector)
        : throw new FamilyFormatException("its key is of an impossible length");

    private static UInt128 KeyOf(IReadOnlyList<string> ids)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (var id in ids)
        {
            hash.AppendData(Encoding.UTF8.GetBytes(id));
            hash.AppendData("\n"u8);
        }

        return BitConverter.ToUInt128(hash.GetHashAndReset());
    }
}
