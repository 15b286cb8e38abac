using Sluice.Server.Auth;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary>One call of the API.</summary>
/// <param name="Http">The request.</param>
/// <param name="Parameters">From query and body.</param>
internal sealed record SabCall(HttpContext Http, SabParameters Parameters)
{
    private static readonly string[] FamilyAgents = ["Sonarr/", "Radarr/", "Lidarr/", "Readarr/", "Whisparr/", "Prowlarr/"];

    /// <summary>What became of its key, where the body needed it to be judged; any other verdict than "accepted" has ended the reading.</summary>
    public ApiKeyVerdict? Key { get; init; }

    /// <summary>The file of a multipart body, already received, or null.</summary>
    public NzbUpload? Upload { get; init; }

    /// <summary>Its name as the client gave it.</summary>
    public string UploadName { get; init; } = "";

    /// <summary>Whether the client is one of the *arr family, which is answered differently at some places (SAB-11, SAB-40).</summary>
    public bool IsFamily => IsFamilyAgent(Http);

    /// <summary>Ends with the client.</summary>
    public CancellationToken Cancelled => Http.RequestAborted;

    /// <summary>Whether a request comes from one of the *arr family.</summary>
    public static bool IsFamilyAgent(HttpContext http)
    {
        var agent = http.Request.Headers.UserAgent.ToString();
        return FamilyAgents.Any(name => agent.StartsWith(name, StringComparison.Ordinal));
    }
}
