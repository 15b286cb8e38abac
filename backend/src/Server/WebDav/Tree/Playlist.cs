using System.Globalization;
using System.Text;
using Microsoft.Net.Http.Headers;
using Sluice.Server.Auth;
using Sluice.Server.Library;

namespace Sluice.Server.WebDav.Tree;

/// <summary><c>/view/playlists.m3u</c> and <c>/view/playlists/&lt;folder&gt;.m3u</c>: signed links to a folder's playable files (DAV-86).</summary>
internal sealed class Playlist(PlaylistStore store, SignedLinks links)
{
    /// <summary>Writes the playlist of a folder, or responds with 404.</summary>
    public async Task WriteAsync(HttpContext http, IReadOnlyList<string> folder)
    {
        if (await store.ListAsync(folder, http.RequestAborted) is not { } files)
        {
            Refusal.Write(http.Response, StatusCodes.Status404NotFound);
            return;
        }

        var body = Encoding.UTF8.GetBytes(TextOf(http.Request, files));
        var headers = http.Response.Headers;
        var disposition = new ContentDispositionHeaderValue("inline");
        disposition.SetHttpFileName($"{(folder.Count == 0 ? "Sluice" : folder[^1])}{PlaylistPath.Extension}");
        headers.ContentDisposition = disposition.ToString();
        headers.ContentType = "audio/x-mpegurl; charset=utf-8";
        headers.XContentTypeOptions = "nosniff";
        // The links in the playlist give access to the library, and a cache would keep them even after they expire.
        headers.CacheControl = "private, no-store";
        headers.ContentLength = body.Length;
        if (!HttpMethods.IsHead(http.Request.Method))
            await http.Response.Body.WriteAsync(body, http.RequestAborted);
    }

    private string TextOf(HttpRequest request, IReadOnlyList<PlaylistFile> files)
    {
        var until = links.Until(SignedLinks.DefaultHours);
        var text = new StringBuilder("#EXTM3U\n");
        foreach (var file in files)
        {
            // A line break in a title would start a new line, which a player would read as an address.
            var title = string.Concat(file.Title.Select(letter => char.IsControl(letter) ? ' ' : letter));
            var seconds = file.Duration is { } duration ? (duration + 500) / 1_000 : -1;
            text.Append(CultureInfo.InvariantCulture, $"#EXTINF:{seconds},{title}\n{links.Make(request, $"{TreeNames.Content}/{file.Path}", until)}\n");
        }

        return text.ToString();
    }
}
