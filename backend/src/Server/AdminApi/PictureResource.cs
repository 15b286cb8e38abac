using Microsoft.AspNetCore.Http.HttpResults;
using Sluice.Server.Library;
using Sluice.Usenet.Media;
using Sluice.Usenet.Probing;

namespace Sluice.Server.AdminApi;

/// <summary>
/// <c>/api/files/{id}/still</c> and <c>/api/pictures/{hash}</c>: pictures of films (ADM-60, S33). They use no provider traffic: stills come from the browser's
/// player, posters from Sonarr and Radarr.
/// </summary>
internal static class PictureResource
{
    public static void MapPictures(this RouteGroupBuilder api)
    {
        api.MapPut("/files/{id}/still", KeepAsync).Accepts<Stream>("image/webp", "image/jpeg", "image/png").WithName("KeepStill");
        api.MapGet("/pictures/{hash}", ShowAsync).Produces<Stream>(StatusCodes.Status200OK, "image/webp").WithName("ShowPicture");
    }

    // The body is the picture. Its first bytes determine its type, whatever Content-Type says.
    private static async Task<Results<NoContent, JsonHttpResult<Problem>>> KeepAsync(
        string id, HttpRequest request, LibraryTree tree, PictureStore pictures, CancellationToken cancellationToken)
    {
        if (!pictures.IsOn)
            return AdminProblem.WrongState("Pictures are turned off.");
        if (request.ContentLength > PictureStore.MaxStillBytes)
            return TooLong();
        if (await ReadAsync(request.Body, cancellationToken) is not { } bytes)
            return TooLong();
        if (PictureStore.Judge(bytes.Span) is null)
            return AdminProblem.BadInput("still", "Send a JPEG, PNG or WebP of at most 2,000 pixels a side.");
        if (!Guid.TryParseExact(id, "D", out var guid) || (await tree.FindByIdAsync(guid, cancellationToken))?.File is not { Release.Id: not 0 } file)
            return AdminProblem.NotFound("There is no such film.");
        if (MediaSignature.CategoryOf(MediaSignature.KindOf(NameJudge.ExtensionOf(file.Path))) != MediaCategory.Video)
            return AdminProblem.NotFound("This file is no film.");
        return await pictures.SaveStillAsync(file.Release.Id, file.Id, bytes, cancellationToken) is null
            ? AdminProblem.NotFound("There is no such film.")
            : TypedResults.NoContent();
    }

    private static async Task<Results<FileContentHttpResult, JsonHttpResult<Problem>>> ShowAsync(
        string hash, HttpResponse response, PictureStore pictures, CancellationToken cancellationToken)
    {
        if (await pictures.FindAsync(hash, cancellationToken) is not { } picture)
            return AdminProblem.NotFound("There is no such picture.");
        var headers = response.Headers;
        headers.CacheControl = "private, max-age=31536000, immutable";
        headers.XContentTypeOptions = "nosniff";
        headers.ContentSecurityPolicy = "default-src 'none'; sandbox";
        return TypedResults.File(picture.Bytes, TypeOf(picture.Header.Kind));
    }

    private static string TypeOf(MediaKind kind) => kind switch
    {
        MediaKind.Jpeg => "image/jpeg",
        MediaKind.Png => "image/png",
        _ => "image/webp",
    };

    /// <summary>Reads a body up to the size limit of a still; null if the body is longer.</summary>
    private static async Task<ReadOnlyMemory<byte>?> ReadAsync(Stream body, CancellationToken cancellationToken)
    {
        var bytes = new byte[PictureStore.MaxStillBytes + 1];
        var length = await body.ReadAtLeastAsync(bytes, bytes.Length, throwOnEndOfStream: false, cancellationToken);
        // A bare null would become an empty ReadOnlyMemory here.
        return length < bytes.Length ? bytes.AsMemory(0, length) : default(ReadOnlyMemory<byte>?);
    }

    private static JsonHttpResult<Problem> TooLong() => AdminProblem.Of(StatusCodes.Status413PayloadTooLarge, "too-large", "A still has at most 20 KB.");
}
