using Microsoft.AspNetCore.WebUtilities;
using Microsoft.Net.Http.Headers;
using Sluice.Server.Auth;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>
/// Reads the body of a call. A multipart body is read part by part, so that an NZB goes straight to disk, and no byte of it
/// is taken before the key is known: it stands in the query, in a header, or in a field before the file.
/// </summary>
internal sealed class SabBodyReader(SabAccess access, NzbIntake intake)
{
    private const int MaxFields = 256;
    private const int MaxFieldBytes = 64 << 10;
    private const int MaxBoundary = 128;

    private static readonly string[] FileFields = ["name", "nzbfile", "nzbFile"];

    /// <summary>Reads the body to its end, if there is one.</summary>
    /// <returns>The call, or the verdict that stopped the reading at the file.</returns>
    /// <exception cref="InvalidDataException">The multipart is broken.</exception>
    public async Task<(SabCall? Call, ApiKeyVerdict Refused)> ReadAsync(HttpContext http)
    {
        var parameters = new SabParameters(http.Request.Query);
        if (!HttpMethods.IsPost(http.Request.Method)
            || !MediaTypeHeaderValue.TryParse(http.Request.ContentType, out var type))
            return (new SabCall(http, parameters), default);

        if (type.MediaType.Equals("application/x-www-form-urlencoded", StringComparison.OrdinalIgnoreCase))
        {
            foreach (var (name, value) in await http.Request.ReadFormAsync(http.RequestAborted))
                parameters.Add(name, value);
            return (new SabCall(http, parameters), default);
        }

        var boundary = HeaderUtilities.RemoveQuotes(type.Boundary).ToString();
        if (!type.MediaType.StartsWith("multipart/", StringComparison.OrdinalIgnoreCase))
            return (new SabCall(http, parameters), default);
        if (boundary.Length is 0 or > MaxBoundary)
            throw new InvalidDataException("The multipart has no usable boundary.");

        http.AllowUpload();
        return await ReadPartsAsync(http, parameters, new MultipartReader(boundary, http.Request.Body));
    }

    private async Task<(SabCall? Call, ApiKeyVerdict Refused)> ReadPartsAsync(HttpContext http, SabParameters parameters, MultipartReader parts)
    {
        var call = new SabCall(http, parameters);
        try
        {
            var fields = 0;
            while (await ReadNextAsync(parts, http.RequestAborted) is { } part)
            {
                if (++fields > MaxFields)
                    throw new InvalidDataException("The multipart has too many parts.");
                if (!ContentDispositionHeaderValue.TryParse(part.ContentDisposition, out var disposition))
                    continue;

                var name = HeaderUtilities.RemoveQuotes(disposition.Name).ToString();
                if (!IsFile(disposition))
                {
                    parameters.Add(name, await ReadFieldAsync(part.Body, http.RequestAborted));
                    continue;
                }

                if (!FileFields.Contains(name) || call.Upload is not null)
                    continue;
                if (access.Verify(http, parameters) is var verdict and not ApiKeyVerdict.Accepted)
                    return (null, verdict);

                call = call with
                {
                    Upload = await intake.ReceiveAsync(part.Body, http.Request.ContentLength, http.RequestAborted),
                    UploadName = FileNameOf(disposition),
                };
            }

            return (call, default);
        }
        catch
        {
            if (call.Upload is { } upload)
                await upload.DisposeAsync();
            throw;
        }
    }

    private static async Task<MultipartSection?> ReadNextAsync(MultipartReader parts, CancellationToken cancellationToken)
    {
        try
        {
            return await parts.ReadNextSectionAsync(cancellationToken);
        }
        catch (IOException e) when (e.GetType() == typeof(IOException))
        {
            // So the reader says that the body ends before its last boundary.
            throw new InvalidDataException("The multipart breaks off.", e);
        }
    }

    private static bool IsFile(ContentDispositionHeaderValue disposition) =>
        disposition.FileName.HasValue || disposition.FileNameStar.HasValue;

    private static string FileNameOf(ContentDispositionHeaderValue disposition) =>
        disposition.FileNameStar.HasValue ? disposition.FileNameStar.ToString() : HeaderUtilities.RemoveQuotes(disposition.FileName).ToString();

    private static async Task<string> ReadFieldAsync(Stream body, CancellationToken cancellationToken)
    {
        using var reader = new StreamReader(body);
        var text = new char[MaxFieldBytes];
        var length = await reader.ReadBlockAsync(text, cancellationToken);
        return length == text.Length ? throw new InvalidDataException("A field is too long.") : new string(text, 0, length);
    }
}
