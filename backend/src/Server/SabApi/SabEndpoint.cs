using Sluice.Server.Auth;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>Reads a call, asks for its key, and hands it to its mode.</summary>
internal sealed class SabEndpoint(SabBodyReader bodies, SabAccess access, IEnumerable<ISabMode> modes)
{
    private static readonly string[] Methods = [HttpMethods.Get, HttpMethods.Post];

    private readonly Dictionary<string, ISabMode> _modes = modes.ToDictionary(mode => mode.Name, StringComparer.Ordinal);

    /// <summary>Maps the paths of SAB-1. A route answers with and without a slash at its end.</summary>
    public static void Map(IEndpointRouteBuilder endpoints)
    {
        foreach (var path in new[] { "/api", "/sabnzbd/api" })
        {
            endpoints
                .MapMethods(path, Methods, http => http.RequestServices.GetRequiredService<SabEndpoint>().AnswerAsync(http))
                .OpenAs(OpenEndpoint.SabApi);
        }
    }

    private async Task AnswerAsync(HttpContext http)
    {
        try
        {
            var (call, refused) = await bodies.ReadAsync(http);
            if (call is null)
            {
                await SabAccess.RefuseAsync(http, refused);
                return;
            }

            await using var upload = call.Upload;
            await AnswerAsync(call);
        }
        catch (BadHttpRequestException e) when (e.StatusCode == StatusCodes.Status413PayloadTooLarge)
        {
            await SabAnswer.ErrorAsync(http, SabTexts.TooLarge, StatusCodes.Status413PayloadTooLarge);
        }
        catch (Exception e) when (e is InvalidDataException or UploadBrokenException or BadHttpRequestException && !http.Response.HasStarted)
        {
            await SabAnswer.PlainAsync(http, StatusCodes.Status400BadRequest, "Bad Request");
        }
    }

    private async Task AnswerAsync(SabCall call)
    {
        var mode = _modes.GetValueOrDefault(call.Parameters.Text("mode"));
        if (mode is { IsOpen: true })
        {
            await mode.AnswerAsync(call);
            return;
        }

        var verdict = access.Verify(call.Http, call.Parameters);
        if (verdict != ApiKeyVerdict.Accepted)
            await SabAccess.RefuseAsync(call.Http, verdict);
        else if (mode is null)
            await SabAnswer.ErrorAsync(call.Http, SabTexts.NotImplemented);
        else
            await mode.AnswerAsync(call);
    }
}
