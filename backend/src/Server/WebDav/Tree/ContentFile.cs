using Sluice.Server.Library;
using Sluice.Server.Playbacks;

namespace Sluice.Server.WebDav.Tree;

/// <summary>A library file, in <c>/content</c> under its own name or in <c>/.ids</c> under its id (DAV-11).</summary>
/// <param name="file">The file.</param>
/// <param name="playbacks">Opens it.</param>
/// <param name="reading">The request that reads it; null while none does.</param>
internal sealed class ContentFile(LibraryFile file, PlaybackRegistry playbacks, HttpContext? reading = null) : IStoreFile
{
    /// <inheritdoc/>
    public string Name { get; init; } = file.Name;

    /// <inheritdoc/>
    public string? SuggestedName => Name == file.Name ? null : file.Name;

    /// <inheritdoc/>
    public DateTimeOffset Created => file.LastModified;

    /// <inheritdoc/>
    public DateTimeOffset LastModified => file.LastModified;

    /// <inheritdoc/>
    public bool IsReadOnly => true;

    /// <inheritdoc/>
    public IPropertyManager Properties => LiveProperties.OfFiles;

    /// <inheritdoc/>
    public long Length => file.Length;

    /// <inheritdoc/>
    public EntityTag ETag => new(file.ETag);

    /// <inheritdoc/>
    public string ContentType => ContentTypes.ForName(file.Name);

    /// <inheritdoc/>
    public IStoreFile For(HttpContext http) => new ContentFile(file, playbacks, http) { Name = Name };

    /// <inheritdoc/>
    public async ValueTask<Stream> OpenAsync(long offset, long length, CancellationToken cancellationToken)
    {
        var request = PlaybackRequest.Of(reading);
        try
        {
            var stream = await StoreGuard.RunAsync(() => playbacks.OpenAsync(file, request, offset, length, cancellationToken));
            return new LendingContentStream(stream, stream, Translate);
        }
        catch (Exception failure) when (Translate(failure) is { } known)
        {
            throw known;
        }
    }

    /// <summary>The exception for the client. The messages of the layers below name ids and providers, and go to the log only.</summary>
    private static ContentUnavailableException? Translate(Exception failure) => Playback.Explain(failure) switch
    {
        ReadFailure.Gone => new ContentUnavailableException(
            ContentFault.Gone, "Articles of this part are gone or damaged at every provider.", failure),
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
