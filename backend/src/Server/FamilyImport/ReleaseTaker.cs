using System.Data.Common;
using Sluice.Server.Database;
using Sluice.Server.Library;
using Sluice.Server.Queue;
using Sluice.Usenet.Nzb;
using Sluice.Usenet.Probing;

namespace Sluice.Server.FamilyImport;

/// <summary>An NZB that is stored, with the places of the posted files that were looked for in it.</summary>
/// <param name="Blob">The stored NZB.</param>
/// <param name="Posts">Where the posted files stand.</param>
internal sealed record TakenNzb(StoredBlob Blob, PlacedPosts Posts);

/// <summary>Stores the NZBs of the old server, and makes releases of its files.</summary>
internal sealed class ReleaseTaker(BlobStore blobs, StoredNzbReader nzbs)
{
    /// <summary>Stores an NZB and the list of its message-ids, if it lists the files that it should.</summary>
    /// <param name="plain">The NZB; is read to its end.</param>
    /// <param name="posts">The posted files that it has to list; none where any NZB will do.</param>
    /// <param name="lease">Keeps it until a row refers to it.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <returns>Null where it is none, or not that of these files.</returns>
    /// <exception cref="StorageException">It cannot be written.</exception>
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

    /// <summary>Whether <see cref="StoreAsync"/> would store an NZB.</summary>
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
        return await StoreAsync(text, whole.Posts, lease, cancellationToken)
            ?? throw new FamilyFormatException("its articles are listed twice in different files");
    }

    /// <summary>The release, with the ids that links to its files hold.</summary>
    /// <param name="release">As the old server has it.</param>
    /// <param name="whole">Its files.</param>
    /// <param name="nzb">Its NZB.</param>
    public static NewRelease Describe(FamilyRelease release, WholeFiles whole, TakenNzb nzb)
    {
        var partSize = PartSizes.OfRelease(whole.Posts.Select(post => (nzb.Posts[post].Segments, post.Length)));
        var posted = new Dictionary<int, StoredPostedFile>();
        foreach (var post in whole.Posts)
        {
            var entry = nzb.Posts[post];
            var map = post.MapOf(entry.Segments, partSize) ?? throw new FamilyFormatException($"{entry.Segments} articles cannot have {post.Length} bytes");
            posted.TryAdd(entry.Ordinal, new StoredPostedFile(entry.Ordinal, entry.Places, map));
        }

        var paths = new FreePaths();
        return new NewRelease(
            CategoryOf(release),
            NameOf(release),
            nzb.Blob.Hash,
            [.. posted.Values.OrderBy(file => file.Ordinal)],
            [.. whole.Files.Select(file => Describe(file, paths.Take(file.Names), nzb.Posts))]);
    }

    /// <summary>The category folder of a release: its own name, which clients have in their paths, cleaned by DAV-13.</summary>
    public static string CategoryOf(FamilyRelease release)
    {
        var name = NameCleaner.Clean(release.Category, windowsSafe: false);
        return name.Equals(BuiltInClip.Category, StringComparison.OrdinalIgnoreCase) ? name + "_" : name;
    }

    /// <summary>The folder of a release, likewise.</summary>
    public static string NameOf(FamilyRelease release) => ReleaseName.Clean(release.Name, windowsSafe: false);

    /// <summary>Adds the release under a name that is free, as part of the caller's transaction.</summary>
    /// <returns>Its row and its name.</returns>
    public static (long Id, string Name) Insert(DbConnection connection, NewRelease release, DateTimeOffset at)
    {
        var name = ReleaseName.FindFree(release.Name, candidate => LibraryStore.Contains(connection, release.Category, candidate));
        return (LibraryStore.Insert(connection, release with { Name = name }, at), name);
    }

    private static NewLibraryFile Describe(WholeFile file, string path, PlacedPosts posts)
    {
        var hashes = file.Stretches.Select(stretch => posts[stretch.Post].IdsHash).Distinct();
        return new NewLibraryFile(
            file.Id,
            path,
            null,
            file.Length,
            ContentTag.Of(hashes, file.IsPlain ? "" : file.Names[^1], file.Length),
            new FileContent([.. file.Stretches.Select(stretch => new ContentExtent(posts[stretch.Post].Ordinal, stretch.Offset, stretch.Length))]) { Cipher = file.Cipher });
    }

    private static async Task PlaceAsync(IAsyncEnumerable<NzbFile> files, PlacedPosts placed, Stream list, CancellationToken cancellationToken)
    {
        var writer = new MessageIdListWriter(list);
        var ordinal = 0;
        await foreach (var file in files.WithCancellation(cancellationToken))
            await placed.AddAsync(ordinal++, file, writer, cancellationToken);
        await writer.CompleteAsync(cancellationToken);
    }

    // A fault of our own storage is no fault of the NZB.
    private static bool IsOfNzb(Exception failure) =>
        failure is NzbFormatException or InvalidDataException or BlobTooLargeException || (failure is IOException and not StorageException);

    /// <summary>Gives each file of a release a path that no other has, and that no other has as a folder.</summary>
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
