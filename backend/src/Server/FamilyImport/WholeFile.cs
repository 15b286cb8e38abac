using System.Security.Cryptography;
using System.Text;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Streams.Maps;

namespace Sluice.Server.FamilyImport;

/// <summary>A posted file as described by the old server: message-ids in order, length in bytes, and segment lengths if known.</summary>
internal sealed record OldPost(IReadOnlyList<string> Ids, long Length, IReadOnlyList<long>? Segments)
{
    /// <summary>Whether the length is just an upper limit.</summary>
    public bool IsLimit { get; init; }

    /// <summary>Returns the map of segment positions, stored or estimated. The count includes segments that were never posted.</summary>
    public SegmentMap? MapOf(int count, long? partSize) =>
        Segments is { } lengths && lengths.Count == count && lengths.All(length => length is >= 0 and <= SegmentMap.MaxSegmentLength) && lengths.Sum() == Length
            ? SegmentMap.FromLengths(lengths)
            : PartSizes.Estimate(count, Length, partSize);
}

/// <summary>An importable file of the old server.</summary>
/// <param name="Names">Folders inside the release, followed by the file name.</param>
/// <param name="Length">Exact length in bytes.</param>
/// <param name="Stretches">The ranges of posted files that contain the file's bytes; empty if the old server had not read all volumes.</param>
/// <param name="Cipher">Decryption parameters; null if the bytes are not encrypted.</param>
internal sealed record WholeFile(Guid Id, IReadOnlyList<string> Names, long Length, IReadOnlyList<(OldPost Post, long Offset, long Length)> Stretches, StreamCipher? Cipher)
{
    /// <summary>The file's posts, in order of first use.</summary>
    public required IReadOnlyList<OldPost> Posts { get; init; }

    /// <summary>Whether the old server read the volumes only on playback.</summary>
    public bool IsLazy { get; init; }

    /// <summary>The archive password; null if unknown. Secret.</summary>
    public string? Password { get; init; }

    /// <summary>Whether the file is exactly one complete post.</summary>
    public bool IsPlain => Cipher is null && Stretches is [var only] && only.Offset == 0 && only.Length == only.Post.Length;

    /// <summary>
    /// Whether the positions of the bytes are unverified, because the old server had not read all volumes or mistook an encoded size for a length.
    /// </summary>
    /// <param name="encodedBytes">Returns a post's encoded size according to the NZB.</param>
    public bool IsUnproved(Func<OldPost, long> encodedBytes) =>
        Stretches.Count == 0 || (IsLazy && Stretches.Any(stretch => stretch.Post.Length == encodedBytes(stretch.Post) || stretch.Offset + stretch.Length > stretch.Post.Length));
}

/// <summary>
/// Importable files of a release, which may share posts. Refuses a file unless its lengths add up and each range lies within its post. Not thread-safe.
/// </summary>
internal sealed class WholeFiles
{
    // Per release, because an NZB cannot list more.
    private const int MaxIds = SegmentMap.MaxCount;

    private readonly Dictionary<UInt128, OldPost> _posts = [];
    private readonly List<WholeFile> _files = [];
    private int _ids;

    public IReadOnlyList<WholeFile> Files => _files;

    /// <summary>The distinct posts of all files, in order of first use.</summary>
    public IReadOnlyList<OldPost> Posts => [.. _files.SelectMany(file => file.Posts).Distinct()];

    /// <summary>Returns the release's part size, calculated from its known lengths; null if no size fits all files.</summary>
    public long? FindPartSize(Func<OldPost, int> segments) =>
        PartSizes.OfRelease(Posts.Where(post => !post.IsLimit).Select(post => (segments(post), post.Length)));

    /// <summary>Adds a file according to its description.</summary>
    /// <exception cref="FamilyFormatException">The file cannot be imported and was not added.</exception>
    public void Add(FamilyFile file, FamilyContent content)
    {
        var parts = content.Parts.Where(part => part.Length != 0).ToList();
        if (!content.IsUnfinished)
            RequireWhole(file, content, parts);
        var all = content.IsUnfinished ? [.. parts, .. content.Pending] : parts;
        if (all.Count == 0)
            throw new FamilyFormatException("the old database lists no parts of it");
        var cipher = content.Cipher is { } aes ? CipherOf(aes) : null;
        var posts = all.ConvertAll(part => Describe(part, content.IsLazy && part.Segments is null));
        foreach (var (key, post) in posts)
        {
            if (!_posts.ContainsKey(key))
                _ids += post.Ids.Count;
            _posts[key] = post;
        }

        if (_ids > MaxIds)
            throw new FamilyFormatException("its release has more articles than one may have");
        _files.Add(new WholeFile(
            file.Item.Id,
            file.Names,
            file.Item.Length!.Value,
            content.IsUnfinished ? [] : [.. parts.Select((part, i) => (posts[i].Post, part.Offset, part.Length))],
            content.IsUnfinished ? null : cipher)
        {
            Posts = [.. posts.Select(post => post.Post).Distinct()],
            IsLazy = content.IsLazy,
            Password = content.Password,
        });
    }

    /// <summary>Throws unless all parts lie within their posts and add up to the file's length.</summary>
    private static void RequireWhole(FamilyFile file, FamilyContent content, List<FamilyPart> parts)
    {
        var length = file.Item.Length!.Value;
        long sum = 0;
        foreach (var part in parts)
        {
            if (part.Length < 0 || part.Offset < 0 || part.PostedLength <= 0 || part.Length > part.PostedLength - part.Offset)
                throw new FamilyFormatException("a part of it lies outside of its posted file");
            sum = checked(sum + part.Length);
        }

        if (parts.Count > 0 && (content.Cipher is null ? sum != length : sum < length || sum - length >= StreamCipher.BlockLength))
            throw new FamilyFormatException($"its parts have {sum} bytes, and it {length}");
    }

    private (UInt128 Key, OldPost Post) Describe(FamilyPart part, bool isLimit)
    {
        if (part.Ids.Count == 0)
            throw new FamilyFormatException("the old database lists no articles of it");
        foreach (var id in part.Ids)
        {
            // Refuse an unpaired surrogate, because an NZB cannot contain one.
            if (!MessageId.TryParse(id, out _) || id.Any(char.IsSurrogate))
                throw new FamilyFormatException("one of its message-ids is none");
        }

        var key = KeyOf(part.Ids);
        if (_posts.TryGetValue(key, out var known) && (isLimit || known.Length == part.PostedLength))
            return (key, known);
        if (known is { IsLimit: false })
            throw new FamilyFormatException("another file says otherwise how long its posted file is");
        var post = new OldPost(part.Ids, part.PostedLength, part.Segments) { IsLimit = isLimit };
        if (!isLimit && post.MapOf(post.Ids.Count, null) is null)
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
