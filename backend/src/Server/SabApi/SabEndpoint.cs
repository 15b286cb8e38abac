using System.Data.Common;
using Sluice.Server.Auth;
using Sluice.Server.Database;
using Sluice.Server.Diagnostics;
using Sluice.Server.Playbacks;
using Sluice.Server.Queue.Intake;

namespace Sluice.Server.SabApi;

/// <summary>Reads a call, checks its key, and dispatches the call to its mode.</summary>
internal sealed class SabEndpoint(
    SabBodyReader bodies, SabAccess access, IEnumerable<ISabMode> modes, SmallModes small, Readiness readiness, FirstUse evening)
{
    private static readonly string[] Methods = [HttpMethods.Get, HttpMethods.Post];

    private readonly Dictionary<string, ISabMode> _modes = modes.Concat(small.All).ToDictionary(mode => mode.Name, StringComparer.Ordinal);

    /// <summary>Maps the paths of SAB-1, with and without a trailing slash.</summary>
    public static void Map(IEndpointRouteBuilder endpoints)
    {
        foreach (var path in new[] { "/api", "/sabnzbd/api" })
        {
            endpoints
                .MapMethods(path, Methods, http => http.RequestServices.GetRequiredService<SabEndpoint>().AnswerAsync(http))
                .OpenAs(OpenEndpoint.SabApi);
        }
    }

    /// <summary>Whether a request's path and query look like a call of this API.</summary>
    public static bool LooksLikeCall(HttpContext http) =>
        http.Request.Path.Value?.TrimEnd('/').EndsWith("/api", StringComparison.Ordinal) == true
        && http.Request.Query.ContainsKey("apikey");

    private async Task AnswerAsync(HttpContext http)
    {
        var call = new SabCall(http, new SabParameters(http.Request.Query));
        try
        {
            // Check safe mode before body and key, because the keys are in the unavailable database too (SAB-6).
            if (readiness.IsSafeMode && !IsOpen(await ReadModeAsync(http)))
            {
                await SabAnswer.ErrorAsync(call, SabTexts.Unavailable);
                return;
            }

            call = await bodies.ReadAsync(call);
            await using var upload = call.Upload;
            await AnswerAsync(call);
            Failpoint.Reach("call-answered");
        }
        catch (BadHttpRequestException e) when (e.StatusCode == StatusCodes.Status413PayloadTooLarge)
        {
            await SabAnswer.RefuseAsync(http, StatusCodes.Status413PayloadTooLarge, SabTexts.TooLarge);
        }
        catch (StorageException e) when (!http.Response.HasStarted)
        {
            await SabAnswer.ErrorAsync(call, e.Fault == StorageFault.Full ? SabTexts.DiskFull : SabTexts.StorageUnavailable);
        }
        catch (DbException) when (!http.Response.HasStarted)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.Unavailable);
        }
        catch (Exception e) when (e is InvalidDataException or UploadBrokenException or BadHttpRequestException && !http.Response.HasStarted)
        {
            await SabAnswer.PlainAsync(http, StatusCodes.Status400BadRequest, "Bad Request");
        }
    }

    /// <summary>Returns the mode if it can be read without an upload, from the query or a short form; otherwise an empty string.</summary>
    private static async Task<string> ReadModeAsync(HttpContext http)
    {
        if (http.Request.Query.TryGetValue("mode", out var mode))
            return mode[0] ?? "";
        var isForm = http.Request.ContentType?.StartsWith("application/x-www-form-urlencoded", StringComparison.OrdinalIgnoreCase) ?? false;
        return isForm ? (await http.Request.ReadFormAsync(http.RequestAborted))["mode"].FirstOrDefault() ?? "" : "";
    }

    private bool IsOpen(string mode) => _modes.GetValueOrDefault(mode) is { IsOpen: true };

    private async Task AnswerAsync(SabCall call)
    {
        var mode = _modes.GetValueOrDefault(call.Parameters.Text("mode"));
        if (mode is { IsOpen: true })
        {
            await mode.AnswerAsync(call);
            return;
        }

        var verdict = call.Key ?? await access.VerifyAsync(call.Http, call.Parameters);
        if (verdict == ApiKeyVerdict.AcceptedForAdds)
            verdict = mode is { IsAdd: true } ? ApiKeyVerdict.Accepted : ApiKeyVerdict.Incorrect;
        if (verdict == ApiKeyVerdict.Accepted)
            evening.Note(FirstStep.Called);
        if (verdict != ApiKeyVerdict.Accepted)
            await access.RefuseAsync(call.Http, verdict);
        else if (mode is null)
            await SabAnswer.ErrorAsync(call, SabTexts.NotImplemented);
        else
            await mode.AnswerAsync(call);
    }
}
