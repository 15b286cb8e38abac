using Sluice.Server.Library;
using Sluice.Server.Playbacks;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A library file, by name in <c>/content</c> and by id in <c>/.ids</c> (DAV-11). <paramref name="reading"/> is the request, or null.</summary>
internal sealed class ContentFile(LibraryFile file, PlaybackRegistry playbacks, HttpContext? reading = null) : IStoreFile
{
    public string Name { get; init; } = file.Name;

    public string? SuggestedName => Name == file.Name ? null : file.Name;

    public DateTimeOffset Created => file.LastModified;

    public DateTimeOffset LastModified => file.LastModified;

    public bool IsReadOnly => true;

    public IPropertyManager Properties => LiveProperties.OfFiles;

    public long Length => file.Length;

    public EntityTag ETag => new(file.ETag);

    public string ContentType => ContentTypes.ForName(file.Name);

    public IStoreFile For(HttpContext http) => new ContentFile(file, playbacks, http) { Name = Name };

    public async ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken)
    {
        var request = PlaybackRequest.Of(reading);
        return await StoreGuard.RunAsync(() => playbacks.OpenAsync(file, request, offset, length, cancellationToken));
    }

    /// <summary>Maps a failure to an exception for the client; null if unknown. Only the log gets the details, because they name ids and providers.</summary>
    public ContentUnavailableException? Explain(Exception failure) => Playback.Explain(failure) switch
    {
        ReadFailure.Gone => new ContentUnavailableException(
            ContentFault.Gone, "Articles of this part are gone or damaged at every provider.", failure),
        ReadFailure.Refused => new ContentUnavailableException(ContentFault.Gone, failure.Message, failure),
        ReadFailure.Unsettled => new ContentUnavailableException(ContentFault.Transient, failure.Message, failure),
        ReadFailure.Busy => new ContentUnavailableException(
            ContentFault.Transient, "Too many others read at the same time.", failure),
        ReadFailure.Damaged => new ContentUnavailableException(
            ContentFault.Transient, "An article of this part came damaged. It is asked for again in a few seconds.", failure),
        ReadFailure.Unreachable => new ContentUnavailableException(
            ContentFault.Transient, "No provider could be asked for this part.", failure),
        ReadFailure.Unreadable => new ContentUnavailableException(
            ContentFault.Transient, "What is stored about this part cannot be read at present.", failure),
        _ => null,
    };
}
