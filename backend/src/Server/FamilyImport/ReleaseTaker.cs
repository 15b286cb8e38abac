using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.History;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.FamilyImport;

/// <summary>A stored NZB and its entries for the matched posted files.</summary>
internal sealed record TakenNzb(StoredBlob Blob, PlacedPosts Posts)
{
    /// <summary>Whether Sluice wrote the NZB itself, so that its sizes prove nothing.</summary>
    public bool IsWritten { get; init; }
}

/// <summary>Stores NZBs from the old server and creates releases from its files.</summary>
internal sealed class ReleaseTaker(BlobStore blobs, StoredNzbReader nzbs)
{
    /// <summary>
    /// Stores an NZB and its message-id list. Null if the content is not an NZB or lacks a post; with an empty list of posts, any NZB is accepted. The lease
    /// keeps the blob until a row refers to it.
    /// </summary>
    /// <exception cref="StorageException">The NZB cannot be written.</exception>
    public async Task<TakenNzb?> StoreAsync(Stream plain, IReadOnlyList<OldPost> posts, StoredNzbs.UploadLease lease, CancellationToken cancellationToken)
    {
        try
        {
            var blob = await blobs.SaveNzbAsync(plain, read: null, lease.PinAsync, cancellationToken);
            var placed = new PlacedPosts(posts);
            await blobs.SaveIdsAsync(blob.Hash, (list, token) => PlaceAsync(nzbs.ReadAsync(blob.Hash, new NzbHead(), token), placed, list, token), cancellationToken);
            return placed.AreComplete ? new TakenNzb(blob, placed) : null;
        }
        catch (Exception e) when (IsOfNzb(e))
        {
            return null;
        }
    }

    public static async Task<bool> IsUsableAsync(Stream plain, IReadOnlyList<OldPost> posts, CancellationToken cancellationToken)
    {
        try
        {
            var placed = new PlacedPosts(posts);
            await PlaceAsync(NzbReader.ReadAsync(plain, limits: null, new NzbHead(), cancellationToken), placed, Stream.Null, cancellationToken);
            return placed.AreComplete;
        }
        catch (Exception e) when (IsOfNzb(e))
        {
            return false;
        }
    }

    /// <summary>Writes an NZB from message-ids and stores it.</summary>
    public async Task<TakenNzb> WriteAsync(FamilyRelease release, WholeFiles whole, DateTimeOffset at, StoredNzbs.UploadLease lease, CancellationToken cancellationToken)
    {
        await using var text = blobs.CreateTemporary();
        await WrittenNzb.WriteAsync(text, NameCleaner.Clean(release.Name, windowsSafe: true), whole, at, cancellationToken);
        text.Position = 0;
        return await StoreAsync(text, whole.Posts, lease, cancellationToken) is { } stored
            ? stored with { IsWritten = true }
            : throw new FamilyFormatException("its articles are listed twice in different files");
    }

    /// <summary>Describes a release for the library. Keeps file ids, because links contain them. Files without verified maps stay unopened.</summary>
    public static NewRelease Describe(FamilyRelease release, WholeFiles whole, TakenNzb nzb)
    {
        var partSize = whole.FindPartSize(post => nzb.Posts[post].Segments);
        var unopened = whole.Files.Where(file => file.IsUnproved(post => nzb.IsWritten ? 0 : nzb.Posts[post].EncodedBytes)).Select(file => file.Id).ToHashSet();
        var posted = new Dictionary<int, StoredPostedFile>();
        foreach (var post in whole.Files.Where(file => !unopened.Contains(file.Id)).SelectMany(file => file.Posts).Distinct())
        {
            var entry = nzb.Posts[post];
            var map = post.MapOf(entry.Segments, partSize) ?? throw new FamilyFormatException($"{entry.Segments} articles cannot have {post.Length} bytes");
            posted.TryAdd(entry.Ordinal, new StoredPostedFile(entry.Ordinal, entry.Places, map) { IsEstimate = true });
        }

        var paths = new FreePaths();
        return new NewRelease(
            CategoryOf(release),
            NameOf(release),
            nzb.Blob.Hash,
            [.. posted.Values.OrderBy(file => file.Ordinal)],
            [.. whole.Files.Select(file => Describe(file, paths.Take(file.Names), nzb.Posts, isOpen: !unopened.Contains(file.Id)))]);
    }

    /// <summary>Returns the category folder. It keeps the old name, cleaned according to DAV-13, because clients' paths contain it.</summary>
    public static string CategoryOf(FamilyRelease release)
    {
        var name = NameCleaner.Clean(release.Category, windowsSafe: false);
        return name.Equals(BuiltInClip.Category, StringComparison.OrdinalIgnoreCase) ? name + "_" : name;
    }

    /// <summary>Returns the release folder: the old name, cleaned according to DAV-13.</summary>
    public static string NameOf(FamilyRelease release) => ReleaseName.Clean(release.Name, windowsSafe: false);

    /// <summary>Inserts the release under an unused name, in the caller's transaction.</summary>
    public static Release Insert(DbConnection connection, NewRelease release, DateTimeOffset at)
    {
        var name = ReleaseName.FindFree(
            release.Name,
            candidate => LibraryStore.Contains(connection, release.Category, candidate) || CompletedStore.Contains(connection, release.Category, candidate));
        var id = LibraryStore.Insert(connection, release with { Name = name }, at);
        return new Release(id, PathKey.OfName(release.Category), PathKey.OfName(name), release.NzbHash, at);
    }

    private static NewLibraryFile Describe(WholeFile file, string path, PlacedPosts posts, bool isOpen)
    {
        var hashes = file.Posts.Select(post => posts[post].IdsHash).Distinct();
        return new NewLibraryFile(
            file.Id,
            path,
            null,
            file.Length,
            ContentTag.Of(hashes, file.IsPlain ? "" : file.Names[^1], file.Length),
            isOpen
                ? new FileContent([.. file.Stretches.Select(stretch => new ContentExtent(posts[stretch.Post].Ordinal, stretch.Offset, stretch.Length))]) { Cipher = file.Cipher }
                : FileContent.Unopened);
    }

    private static async Task PlaceAsync(IAsyncEnumerable<NzbFile> files, PlacedPosts placed, Stream list, CancellationToken cancellationToken)
    {
        var writer = new MessageIdListWriter(list);
        var ordinal = 0;
        await foreach (var file in files.WithCancellation(cancellationToken))
            await placed.AddAsync(ordinal++, file, writer, cancellationToken);
        await writer.CompleteAsync(cancellationToken);
    }

    // A local storage fault says nothing about the NZB.
    private static bool IsOfNzb(Exception failure) =>
        failure is NzbFormatException or InvalidDataException or BlobTooLargeException || (failure is IOException and not StorageException);

    /// <summary>Gives each file in a release a path that no other file or folder uses.</summary>
    private sealed class FreePaths
    {
        private readonly HashSet<string> _files = [];
        private readonly HashSet<string> _folders = [];

        public string Take(IReadOnlyList<string> names)
        {
            List<string> clean = [.. names.Select(name => NameCleaner.Clean(name, windowsSafe: false))];
            var folder = "";
            for (var i = 0; i < clean.Count - 1; i++)
            {
                clean[i] = Free(folder, clean[i], names[i], key => !_files.Contains(key));
                folder = folder.Length == 0 ? clean[i] : $"{folder}/{clean[i]}";
                _folders.Add(PathKey.OfPath(folder));
            }

            clean[^1] = Free(folder, clean[^1], names[^1], key => !_folders.Contains(key) && !_files.Contains(key));
            var path = string.Join('/', clean);
            _files.Add(PathKey.OfPath(path));
            return path;
        }

        private static string Free(string folder, string clean, string name, Func<string, bool> isFree)
        {
            for (var number = 2; !isFree(PathKey.OfPath(folder.Length == 0 ? clean : $"{folder}/{clean}")); number++)
                clean = NameCleaner.Clean(name, windowsSafe: false, string.Create(System.Globalization.CultureInfo.InvariantCulture, $" ({number})"));
            return clean;
        }
    }
}
